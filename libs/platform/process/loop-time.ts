const TICK_MS = 100;

let ticks = 0;
setInterval(() => ticks++, TICK_MS).unref();

/**
 * Milliseconds, in steps of 100, during which this process could work: an iteration of the event loop counts as at most
 * one step, however long it takes. A timeout that uses this clock excludes the time during which this process itself
 * was blocked.
 */
export function loopTime(): number {
  return ticks * TICK_MS;
}
