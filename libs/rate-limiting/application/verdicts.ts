import type { RateLimitWindow } from '#kernel/rate-limit-window.js';
import { refusedForMs, type HitOutcome } from '../domain/decide-hit.js';
import { WINDOW_MS, type WindowName } from '../domain/windows.js';
import type { Hit, Verdict } from './limiter.js';

/**
 * The verdict on one of the hits that an outcome was decided for.
 * @param outcome null when the hits were stale
 * @param place of the hit among them, from 0 on
 * @param decidedAt in milliseconds of `performance.now()`
 */
export function verdictOf(
  outcome: HitOutcome | null,
  place: number,
  { count, retried = count }: Pick<Hit, 'count' | 'retried'>,
  decidedAt: number,
): Verdict {
  if (outcome === null) return { kind: 'stale' };
  if (count !== 1 ? outcome.admitted === count : place < outcome.admitted) {
    return { kind: 'admitted', windows: windowsOf(outcome, decidedAt, count === 1 ? outcome.admitted - place - 1 : 0) };
  }
  // Nothing remains for a retry of this hit in a window that has capacity for fewer requests.
  const windows = windowsOf(outcome, decidedAt).map((one) =>
    one.remaining < retried ? { ...one, remaining: 0 } : one,
  );
  const spared = place - outcome.admitted < outcome.spared;
  if (outcome.banLeftMs > 0 && !spared) return { kind: 'banned', windows, retryInMs: outcome.banLeftMs };
  return { kind: 'refused', windows, retryInMs: refusedForMs(outcome, retried) };
}

/**
 * The windows of an outcome, as responses report them.
 * @param later requests of the same outcome that were counted after the reported one
 */
export function windowsOf(outcome: HitOutcome, decidedAt: number, later = 0): RateLimitWindow[] {
  const window = (name: WindowName, limit: number, used: number, leftMs: number): RateLimitWindow => ({
    name,
    windowSeconds: WINDOW_MS[name] / 1_000,
    limit,
    remaining: Math.max(0, limit - used + later),
    resetsAt: decidedAt + leftMs,
  });
  return [
    window('minute', outcome.perMinute, outcome.minuteUsed, outcome.minuteLeftMs),
    window('day', outcome.perDay, outcome.dayUsed, outcome.dayLeftMs),
  ];
}
