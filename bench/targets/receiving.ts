import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../apps/dev/port.js';
import type { BenchEnvironment } from '../parts/environment.js';
import { Program } from '../parts/program.js';

const SILENCE_MS = 30_000;

interface Arrivals {
  /** How many distinct messages the receiver has got, of each URL. */
  readonly ids: number;
  /** When the first and the last message arrived since the clock was restarted, in milliseconds since 1970; 0 for none. */
  readonly first: number;
  readonly last: number;
}

/**
 * Starts a receiver of posted messages.
 * @param port a free one by default
 * @param idHeader the header that identifies a message
 */
export async function startReceiver(
  bench: BenchEnvironment,
  port?: number,
  idHeader = 'idempotency-key',
): Promise<{ receiver: Program; url: string }> {
  const PORT = String(port ?? (await freePort()));
  const env = { PORT, ID_HEADER: idHeader };
  const receiver = await Program.start('bench/targets/receiver.js', env, bench.log('receiver'));
  return { receiver, url: `http://127.0.0.1:${PORT}` };
}

export async function arrivalsAt(receiver: Program): Promise<Arrivals> {
  receiver.child.send('count');
  return receiver.next<Arrivals>();
}

/** How many distinct messages the receiver has got, of each URL. */
export async function idsAt(receiver: Program): Promise<number> {
  return (await arrivalsAt(receiver)).ids;
}

/** Resolves when the receiver has got so many distinct messages, or none for half a minute. */
export async function waitForIds(receiver: Program, ids: number): Promise<void> {
  let deadline = Date.now() + SILENCE_MS;
  for (let last = 0; last < ids && Date.now() < deadline;) {
    const now = await idsAt(receiver);
    if (now > last) deadline = Date.now() + SILENCE_MS;
    last = now;
    await sleep(50);
  }
}

/** The next message is the first one again. */
export function restartClock(receiver: Program): void {
  receiver.child.send('restart');
}
