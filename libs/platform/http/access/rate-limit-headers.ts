import { UNAVAILABLE_RETRY_AFTER } from '../problems.js';

/** The state of one window of requests, as the headers show it. */
export interface RateLimitWindow {
  /** The name of the policy in the IETF fields. */
  readonly name: string;
  readonly windowSeconds: number;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds from now, more than 0. */
  readonly resetsInMs: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The windows that count this request; at least one, once they are known. */
    rateLimit?: readonly RateLimitWindow[];
  }
}

/** The window with the fewest requests remaining; of two with as many, the one that resets later. */
export function tightest(windows: readonly RateLimitWindow[]): RateLimitWindow | undefined {
  let [shown] = windows;
  for (const one of windows) {
    if (shown === undefined || one.remaining > shown.remaining) continue;
    if (one.remaining < shown.remaining || one.resetsInMs > shown.resetsInMs) shown = one;
  }
  return shown;
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

/** Whole seconds after which `ms` milliseconds have passed for sure, at least 1. */
export function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
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
