import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { idArgument, withExamples } from '../input/arguments.js';
import { variable, type Context } from '../support/context.js';

/** The program that opens a URL. */
const OPENERS: Partial<Readonly<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
const [OPENER, ...OPENER_ARGS] = OPENERS[process.platform] ?? ['xdg-open'];

export function addOpen(program: Command, context: Context): void {
  const open = program
    .command('open')
    .description('Open the portal, or a message in it, and print its URL')
    .addArgument(idArgument('msg', '[id]'))
    .action((id: string | undefined) => {
      const { output, baseUrl } = context;
      const url = `${baseUrl}/${id === undefined ? '' : `#/messages/${id}`}`;
      output.result({ url }, () => url);
      if (output.isTerminal && !output.isJson && hasScreen()) start(url);
    });
  withExamples(open, 'sluice open', 'sluice open msg_01m7z3xhqzeywbegcvm7ee64q0');
}

/** Whether somebody would see a browser. */
function hasScreen(): boolean {
  return process.platform in OPENERS || ['DISPLAY', 'WAYLAND_DISPLAY'].some((name) => variable(name) !== undefined);
}

/** Without a browser, there is the URL. */
function start(url: string): void {
  spawn(OPENER, [...OPENER_ARGS, url], { detached: true, stdio: 'ignore' })
    .on('error', () => undefined)
    .unref();
}
