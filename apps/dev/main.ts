import 'reflect-metadata';
import { EmbeddedPostgresError } from './embedded-postgres/index.js';
import { SettingsError } from '#platform/settings.js';
import { sentence } from '#platform/process/process.js';
import { SchemaError } from '../schema.js';
import { EndedTooSoon } from './child-process.js';
import { StartError } from './start-error.js';
import { Supervisor } from './supervisor.js';
import { welcome } from './welcome.js';

/** Signals within this time, in milliseconds, are one: npm passes on the Ctrl-C that the terminal has sent us as well. */
const sameSignal = 1_000;

const stopping = new AbortController();
const hurry = new AbortController();
let stopSince = 0;

function stop(): void {
  if (!stopping.signal.aborted) {
    stopSince = Date.now();
    stopping.abort();
    console.log('Stopping …');
  } else if (Date.now() - stopSince > sameSignal) {
    hurry.abort();
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
// The terminal may be gone before we are.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

const supervisor = new Supervisor(process.env);
const aborted = new Promise<void>((resolve) => {
  stopping.signal.addEventListener('abort', () => {
    resolve();
  });
});
let failed = false;
try {
  const started = await Promise.race([supervisor.start(stopping.signal), aborted]);
  if (started) console.log(welcome(started));
  await aborted;
} catch (error) {
  failed = !stopping.signal.aborted;
  if (failed) tell(error);
  stopping.abort();
}
await supervisor.stop(hurry.signal);
process.exit(failed ? 1 : 0);

function tell(error: unknown): void {
  if (error instanceof EndedTooSoon && error.hasSaidWhy) return;
  console.error(isForPeople(error) ? sentence(error) : error);
}

function isForPeople(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  // PostgreSQL and the operating system give their errors a code; what has none is a mistake of ours.
  return (
    [StartError, SettingsError, SchemaError, EmbeddedPostgresError, EndedTooSoon].some(
      (kind) => error instanceof kind,
    ) || 'code' in error
  );
}
