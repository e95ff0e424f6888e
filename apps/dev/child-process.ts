import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { NODE_FLAGS } from '#platform/process/node-flags.js';
import type { Running } from './kept.js';

/**
 * Runs dist/apps/<app>/main.js, which says 'ready' when it serves, and ends by itself when we are gone. It has a
 * process group of its own: a Ctrl-C is for us, and we tell the children in their order.
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
    void ended.then((how) => {
      reject(new EndedTooSoon(`The ${app} process ended before it was ready (${how}).`, child.exitCode !== null));
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
      const patience = setTimeout(kill, graceMs);
      await ended;
      clearTimeout(patience);
      hurry.removeEventListener('abort', kill);
    },
  };
}

export class EndedTooSoon extends Error {
  constructor(
    message: string,
    /** A process that ends by itself says why, one that is killed does not. */
    readonly hasSaidWhy: boolean,
  ) {
    super(message);
  }
}
