import { databaseClock } from '#kernel/clock.js';
import { leftMs, seconds, tightest, type RateLimitWindow } from '#kernel/rate-limit-window.js';
import { UNAVAILABLE_RETRY_AFTER } from '../problems.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The windows that count this request; at least one, once they are known. */
    rateLimit?: readonly RateLimitWindow[];
  }
}

/**
 * The header fields of a response: `X-RateLimit-*` of the tightest window, and all of them in `RateLimit-Policy` and
 * `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10).
 * @param now Unix milliseconds
 * @param at the same moment in milliseconds of `performance.now()`
 */
export function rateLimitHeaders(
  windows: readonly RateLimitWindow[],
  now = databaseClock.now().getTime(),
  at = performance.now(),
): [name: string, value: string][] {
  const shown = tightest(windows);
  if (shown === undefined) return [];
  return [
    ['X-RateLimit-Limit', String(shown.limit)],
    ['X-RateLimit-Remaining', String(shown.remaining)],
    ['X-RateLimit-Reset', String(Math.ceil((now + Math.max(1, leftMs(shown, at))) / 1_000))],
    [
      'RateLimit-Policy',
      windows.map(({ name, limit, windowSeconds }) => `"${name}";q=${limit};w=${windowSeconds}`).join(', '),
    ],
    ['RateLimit', windows.map((one) => `"${one.name}";r=${one.remaining};t=${seconds(leftMs(one, at))}`).join(', ')],
  ];
}

/** The windows to show when nothing can be counted: nothing remains until the caller may retry. */
export function exhausted(windows: readonly RateLimitWindow[]): RateLimitWindow[] {
  const resetsAt = performance.now() + UNAVAILABLE_RETRY_AFTER * 1_000;
  return windows.map((window) => ({ ...window, remaining: 0, resetsAt }));
}

/** The windows for a response that may have taken long: those that have ended are unused. */
export function renewed(windows: readonly RateLimitWindow[], now = performance.now()): RateLimitWindow[] {
  return windows.map((window) =>
    leftMs(window, now) > 0
      ? window
      : { ...window, remaining: window.limit, resetsAt: now + window.windowSeconds * 1_000 },
  );
}
