import 'reflect-metadata';
import { once } from 'node:events';
import { tolerateClosedTerminal } from '#platform/process/closed-terminal.js';
import { startErrorMessage } from '#platform/process/process.js';
import { EndedTooSoon } from './child-process.js';
import { Supervisor } from './supervisor.js';
import { watchSources } from './watch-sources.js';
import { welcome } from './welcome.js';

/** Signals within this time are one: a Ctrl-C comes from the terminal and once more from npm. */
const SAME_SIGNAL_MS = 1_000;

const stopping = new AbortController();
const hurry = new AbortController();
let stopSince = 0;

function stop(): void {
  if (!stopping.signal.aborted) {
    stopSince = Date.now();
    stopping.abort();
    console.log('Stopping …');
  } else if (Date.now() - stopSince > SAME_SIGNAL_MS) {
    hurry.abort();
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
// The terminal may close before this process ends.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

const supervisor = new Supervisor(process.env);
const stopped = once(stopping.signal, 'abort');
let failed = false;
try {
  await Promise.race([start(), stopped]);
  await stopped;
} catch (error) {
  failed = !stopping.signal.aborted;
  if (failed) report(error);
  stopping.abort();
}
await supervisor.stop(hurry.signal);
tolerateClosedTerminal();
process.exit(failed ? 1 : 0);

async function start(): Promise<void> {
  const restart = () => {
    void supervisor.restartApps(hurry.signal);
  };
  if (process.argv.includes('--watch')) await watchSources(restart);
  const started = await supervisor.start(stopping.signal);
  if (!stopping.signal.aborted) console.log(welcome(started));
}

function report(error: unknown): void {
  if (error instanceof EndedTooSoon && error.hasPrintedWhy) return;
  console.error(startErrorMessage(error));
}
