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

/** The window with the fewest requests remaining; of two with as many, the one that resets later. */
export function tightest(windows: readonly RateLimitWindow[]): RateLimitWindow | undefined {
  let [shown] = windows;
  for (const one of windows) {
    if (shown === undefined || one.remaining > shown.remaining) continue;
    if (one.remaining < shown.remaining || one.resetsInMs > shown.resetsInMs) shown = one;
  }
  return shown;
}

/** Whole seconds after which `ms` milliseconds have passed for sure, at least 1. */
export function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
