/** The state of one window of requests, as the headers show it. */
export interface RateLimitWindow {
  /** The name of the policy in the IETF fields. */
  readonly name: string;
  readonly windowSeconds: number;
  readonly limit: number;
  readonly remaining: number;
  /** When it resets, in milliseconds of `performance.now()`. */
  readonly resetsAt: number;
}

/** The window with the fewest requests remaining; of two with as many, the one that resets later. */
export function tightest(windows: readonly RateLimitWindow[]): RateLimitWindow | undefined {
  let [shown] = windows;
  for (const one of windows) {
    if (shown === undefined || one.remaining > shown.remaining) continue;
    if (one.remaining < shown.remaining || one.resetsAt > shown.resetsAt) shown = one;
  }
  return shown;
}

/** Milliseconds until a window resets; negative when it has. */
export function leftMs({ resetsAt }: RateLimitWindow, now = performance.now()): number {
  return resetsAt - now;
}

/** Whole seconds after which `ms` milliseconds have passed for sure, at least 1. */
export function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
