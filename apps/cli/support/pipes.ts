import { EXIT } from './exit-codes.js';

const closed = new AbortController();

/** Is aborted when nobody reads standard output any more, as `head` that has seen enough. */
export const outputClosed = closed.signal;

/**
 * What was begun is finished although nobody reads on.
 * @param onFailure gets the first of the other failures, such as a full disk, which are failures of the command
 */
export function toleratePipes(onFailure: (error: Error) => void): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && !closed.signal.aborted) {
      onFailure(error);
      process.once('exit', (exitCode) => (process.exitCode = exitCode || EXIT.failed));
    }
    closed.abort();
  });
  process.stderr.on('error', () => undefined);
}
