import { isatty } from 'node:tty';

const terminals = [0, 1, 2].filter((fd) => isatty(fd));

/**
 * For a process that has nothing left to do but to exit. If its terminal was closed meanwhile, the process ends by SIGHUP:
 * Node.js would abort with a stack trace, because it cannot restore the settings of the terminal.
 */
export function tolerateClosedTerminal(): void {
  process.once('exit', () => {
    if (terminals.every((fd) => isatty(fd))) return;
    process.removeAllListeners('SIGHUP');
    process.kill(process.pid, 'SIGHUP');
  });
}
