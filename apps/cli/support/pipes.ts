import { EXIT } from './exit-codes.js';

const closed = new AbortController();

/** Is aborted when nobody reads standard output any more, as `head` that has seen enough. */
export const outputClosed = closed.signal;

/** What was begun is finished although nobody reads on. Other failures, such as a full disk, are failures of the command. */
export function toleratePipes(): void {
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') process.once('exit', (exitCode) => (process.exitCode = exitCode || EXIT.failed));
    closed.abort();
  });
  process.stderr.on('error', () => undefined);
}
