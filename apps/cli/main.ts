#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import completion from '@bomb.sh/tab';
import tab from '@bomb.sh/tab/commander';
import { Program } from './program.js';
import { BASH_COMPLETION } from './support/completion.js';
import { toleratePipes } from './support/pipes.js';

const program = new Program(process.argv.slice(2));
const { command, context } = program;

toleratePipes();

command.version(version(), '-V, --version', 'print the version');
command.commandsGroup('Other:').helpCommand('help [command]', 'Print the help of a command');
tab(command, { completionCommandName: 'completion' });
command.commands
  .find((one) => one.name() === 'completion')
  ?.action((shell: string) => {
    if (shell === 'bash') context.output.line(BASH_COMPLETION);
    else completion.setup('sluice', 'sluice', shell);
  });

process.exitCode = (await program.run()) ?? process.exitCode;

function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
