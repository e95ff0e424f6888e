import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { withTimeout } from '#kernel/timeout.js';
import { NODE_FLAGS } from '#platform/process/node-flags.js';
import { UsageError } from '#platform/process/usage-error.js';
import type { Running } from './auto-restart.js';

export class EndedTooSoon extends UsageError {
  constructor(
    message: string,
    /** A process that exits has printed why; one that is killed has not. */
    readonly hasPrintedWhy: boolean,
  ) {
    super(message);
  }
}

/**
 * Runs dist/apps/<app>/main.js, which sends `ready` when it serves and ends when this process is gone. It gets its own
 * process group, so that Ctrl-C reaches only this process, which stops its children in order.
 */
export function runApp(app: 'api' | 'worker', env: NodeJS.ProcessEnv, graceMs: number): Running {
  const child = fork(fileURLToPath(new URL(`../${app}/main.js`, import.meta.url)), {
    env,
    execArgv: [...NODE_FLAGS],
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => {
      resolve(error.message);
    });
    child.once('exit', (code, signal) => {
      resolve(signal ?? `exit code ${code ?? 0}`);
    });
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message) => {
      if (message === 'ready') resolve();
    });
    void ended.then((reason) => {
      reject(new EndedTooSoon(`The ${app} process ended before it was ready (${reason}).`, child.exitCode !== null));
    });
  });
  ready.catch(() => undefined);
  return {
    ended,
    ready,
    async stop(hurry) {
      const kill = () => child.kill('SIGKILL');
      child.kill(hurry.aborted ? 'SIGKILL' : 'SIGTERM');
      hurry.addEventListener('abort', kill);
      await withTimeout(ended, graceMs, kill);
      await ended;
      hurry.removeEventListener('abort', kill);
    },
  };
}
