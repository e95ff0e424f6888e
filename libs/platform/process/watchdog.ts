import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

const BEAT_MS = 250;

/** Counts its own checks, not time: a process that was suspended has done none. */
const THREAD = `
  const { workerData: { state, checks, checkMs, reason } } = require('node:worker_threads');
  let last = 0;
  let silent = 0;
  setInterval(() => {
    const [beats, isDebugged] = [Atomics.load(state, 0), Atomics.load(state, 1)];
    silent = beats === last && !isDebugged ? silent + 1 : 0;
    last = beats;
    if (silent < checks) return;
    try {
      require('node:fs').writeSync(2, reason);
    } catch {}
    process.kill(process.pid, 'SIGKILL');
  }, checkMs);
`;

/**
 * Kills this process once its event loop has been blocked for some time: nothing else can end it then, not even a signal.
 * Not while it is being debugged.
 * @param name of the process, for the sentence on standard error
 */
export function killWhenBlocked(name: string, limitMs: number): void {
  const state = new Int32Array(new SharedArrayBuffer(8));
  setInterval(() => {
    Atomics.add(state, 0, 1);
    Atomics.store(state, 1, Number(inspectorUrl() !== undefined));
  }, BEAT_MS).unref();
  const reason = `${name}: The event loop has been blocked for ${limitMs / 1_000} s, so that the process is killed.\n`;
  const workerData = { state, checks: Math.ceil(limitMs / BEAT_MS), checkMs: BEAT_MS, reason };
  // The flags of the process are not for its threads.
  new Worker(THREAD, { eval: true, workerData, execArgv: [], env: {} }).unref();
}
