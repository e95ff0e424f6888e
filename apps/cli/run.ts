import { readFileSync } from 'node:fs';
import completion from '@bomb.sh/tab';
import tab from '@bomb.sh/tab/commander';
import { tolerateClosedTerminal } from '#platform/process/closed-terminal.js';
import { Program, type AddCommand } from './program.js';
import { fileError } from './files/private-file.js';
import { BASH_COMPLETION } from './support/completion.js';
import { report } from './support/errors.js';
import { CliError } from './support/exit-codes.js';
import { toleratePipes } from './support/pipes.js';

/** Runs the command that the process was started with. @param manifest a package.json, which has the version */
export async function run(manifest: URL, operatorCommands: readonly AddCommand[] = []): Promise<void> {
  const program = new Program(process.argv.slice(2), operatorCommands);
  const { command, context } = program;
  // Warnings for developers.
  process.noDeprecation = true;
  toleratePipes((error) => {
    const { message } = fileError('Standard output', 'written', error);
    report(new CliError(`${message} The command itself may have succeeded.`), context.output);
  });
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  command.version(version, '-V, --version', 'print the version');
  command.commandsGroup('Other:').helpCommand('help [command]', 'Print the help of a command');
  tab(command, { completionCommandName: 'completion' });
  command.commands
    .find((one) => one.name() === 'completion')
    ?.action((shell: string) => {
      if (shell === 'bash') context.output.line(BASH_COMPLETION);
      else completion.setup('sluice', 'sluice', shell);
    });
  process.exitCode = (await program.run()) ?? process.exitCode;
  tolerateClosedTerminal();
}
