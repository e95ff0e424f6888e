import type { Limits } from '#kernel/limits.js';
import { take, UNUSED, WINDOW_MS, type Windows } from './windows.js';

export interface Simulation {
  readonly admitted: number;
  readonly refused: number;
  /** Milliseconds from the start; null when nothing is refused. */
  readonly firstRefusedAt: number | null;
}

/**
 * Counts which of these requests would be admitted, for an account whose windows have counted nothing yet.
 * @param times milliseconds from the start, in ascending order
 * @param each called for each request, in order
 */
export function simulate(
  times: Iterable<number>,
  limits: Limits,
  each: (at: number, admitted: boolean) => void = () => undefined,
): Simulation {
  let windows: Windows = UNUSED;
  let admitted = 0;
  let refused = 0;
  let firstRefusedAt: number | null = null;
  for (const at of times) {
    const taken = take(windows, limits, 1, at);
    windows = taken.windows;
    each(at, taken.admitted === 1);
    if (taken.admitted === 1) admitted++;
    else {
      refused++;
      firstRefusedAt ??= at;
    }
  }
  return { admitted, refused, firstRefusedAt };
}

/**
 * The same for `perMinute` requests a minute for `minutes`, evenly spread. The requests of a minute are counted at
 * once, since windows then begin and end with a minute.
 */
export function simulateSteady(perMinute: number, minutes: number, limits: Limits): Simulation {
  let windows: Windows = UNUSED;
  let admitted = 0;
  let firstRefusedAt: number | null = null;
  for (let at = 0; at < minutes * WINDOW_MS.minute; at += WINDOW_MS.minute) {
    const taken = take(windows, limits, perMinute, at);
    windows = taken.windows;
    admitted += taken.admitted;
    if (taken.admitted < perMinute) firstRefusedAt ??= at + Math.floor((taken.admitted * WINDOW_MS.minute) / perMinute);
  }
  return { admitted, refused: perMinute * minutes - admitted, firstRefusedAt };
}
