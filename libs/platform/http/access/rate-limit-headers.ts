import { seconds, tightest, type RateLimitWindow } from '#kernel/rate-limit-window.js';
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
 */
export function rateLimitHeaders(windows: readonly RateLimitWindow[], now: number): [name: string, value: string][] {
  const shown = tightest(windows);
  if (shown === undefined) return [];
  return [
    ['X-RateLimit-Limit', String(shown.limit)],
    ['X-RateLimit-Remaining', String(shown.remaining)],
    ['X-RateLimit-Reset', String(Math.ceil((now + Math.max(1, shown.resetsInMs)) / 1_000))],
    [
      'RateLimit-Policy',
      windows.map(({ name, limit, windowSeconds }) => `"${name}";q=${limit};w=${windowSeconds}`).join(', '),
    ],
    [
      'RateLimit',
      windows.map(({ name, remaining, resetsInMs }) => `"${name}";r=${remaining};t=${seconds(resetsInMs)}`).join(', '),
    ],
  ];
}

/** The windows to show when nothing can be counted: nothing remains until the caller may retry. */
export function exhausted(windows: readonly RateLimitWindow[]): RateLimitWindow[] {
  return windows.map((window) => ({ ...window, remaining: 0, resetsInMs: UNAVAILABLE_RETRY_AFTER * 1_000 }));
}

/** The windows as they are some milliseconds later, for a response that took long. One that has ended is unused. */
export function later(windows: readonly RateLimitWindow[], ms: number): RateLimitWindow[] {
  return windows.map((window) =>
    window.resetsInMs > ms
      ? { ...window, resetsInMs: window.resetsInMs - ms }
      : { ...window, remaining: window.limit, resetsInMs: window.windowSeconds * 1_000 },
  );
}
