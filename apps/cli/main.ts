#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import completion from '@bomb.sh/tab';
import tab from '@bomb.sh/tab/commander';
import { Command, CommanderError } from 'commander';
import { addAccount } from './commands/account.js';
import { addChecks } from './commands/checks.js';
import { addConsume } from './commands/consume.js';
import { addEndpoints } from './commands/endpoints.js';
import { addKeys } from './commands/keys.js';
import { addListen } from './commands/listen.js';
import { addLogin } from './commands/login.js';
import { addMessages } from './commands/messages.js';
import { addOperators } from './commands/operators.js';
import { addSend } from './commands/send.js';
import { withExamples } from './support/arguments.js';
import { Context, type GlobalOptions } from './support/context.js';
import { BASH_COMPLETION } from './support/completion.js';
import { report } from './support/errors.js';
import { CliError, EXIT } from './support/exit-codes.js';
import { Output } from './support/output.js';
import { toleratePipes } from './support/pipes.js';

/** `sluice`: docs/cli.md describes its commands. */
const program = new Command('sluice');
const context = new Context(() => program.opts<GlobalOptions>());

toleratePipes();

/** Arguments that are invalid are reported before they are known. */
const isJson = process.argv.includes('--json');

program
  .description('Send, follow and consume the messages of Sluice')
  .version(version(), '-V, --version', 'print the version')
  .option('--json', 'print JSON: one document, or one a line where results arrive one after another')
  .option('--base-url <url>', 'the address of the service (SLUICE_BASE_URL, or that of the last login)')
  .helpOption('-h, --help', 'print help')
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError('Run the command with --help for its arguments.')
  .configureOutput({ writeErr: (text) => isJson || process.stderr.write(text) })
  .exitOverride();
withExamples(program, 'sluice login', "sluice send 'Hello, Sluice'", 'sluice tail').addHelpText(
  'after',
  '\nExit codes: 0 success, 1 failure, 2 invalid arguments, 3 no key or not allowed, 4 limits of the plan used up,\n' +
    '5 the service is unavailable, 130 interrupted.',
);

for (const [group, ...commands] of [
  ['Messages:', addSend, addMessages, addConsume, addListen],
  ['Your account:', addLogin, addAccount, addKeys, addEndpoints],
  ['For operators:', addOperators, addChecks],
] as const) {
  program.commandsGroup(group);
  for (const add of commands) add(program, context);
}
program.commandsGroup('Other:').helpCommand('help [command]', 'Print the help of a command');
tab(program, { completionCommandName: 'completion' });
program.commands
  .find((command) => command.name() === 'completion')
  ?.action((shell: string) => {
    if (shell === 'bash') context.output.line(BASH_COMPLETION);
    else completion.setup('sluice', 'sluice', shell);
  });

try {
  if (process.argv.length === 2) program.outputHelp();
  else await program.parseAsync();
} catch (error) {
  process.exitCode = error instanceof CommanderError ? codeOf(error) : report(error, new Output(isJson));
}

/** Help and the version are printed by way of an error, too; commander has printed the others, except as JSON. */
function codeOf({ exitCode, code, message }: CommanderError): number {
  if (exitCode === 0) return EXIT.ok;
  const sentence = code === 'commander.help' ? 'A command is missing.' : message.replace(/^error: /, '');
  if (isJson) report(new CliError(sentence), new Output(isJson));
  return EXIT.usage;
}

function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
