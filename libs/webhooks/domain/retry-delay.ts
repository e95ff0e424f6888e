/** Waits are extended by up to a tenth, so that what failed together is not retried together. */
const JITTER = 0.1;
/** What a receiver may ask for with Retry-After. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/**
 * Milliseconds until the next attempt; null when there is none.
 * @param retrySeconds the waits before the second and each further attempt
 * @param failures attempts that have failed, at least 1
 * @param retryAfterMs what the receiver asked for, 0 for nothing
 * @param random a number in [0, 1)
 */
export function retryDelay(
  retrySeconds: readonly number[],
  failures: number,
  retryAfterMs: number,
  random: number,
): number | null {
  const seconds = retrySeconds[failures - 1];
  if (seconds === undefined) return null;
  return Math.max(Math.round(seconds * 1_000 * (1 + JITTER * random)), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}

/**
 * The milliseconds of a header `Retry-After`; 0 without a valid one.
 * @param text seconds or an HTTP date
 */
export function retryAfterMs(text: string | null, now: Date): number {
  if (text === null) return 0;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
}
