import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceResponse } from './service.js';

interface WindowState {
  remaining: number;
  resetsAt: number;
}

/** Windows that reset this close together are the same: the service sends whole seconds. */
const SAME_WINDOW_MS = 1_500;

/** Keeps all callers together to a rate, and within the limits that the service sends. */
export class Throttle {
  private readonly windows = new Map<string, WindowState>();
  private pending = 0;
  private heldUntil = 0;
  private nextSlot = 0;

  constructor(private readonly perSecond: number) {}

  /**
   * Resolves when one more request may be sent.
   * @param deadline in milliseconds of `performance.now()`
   * @param reserve requests to leave for others
   * @returns false when that is not before `deadline`, or when `signal` is aborted first
   */
  async acquire(
    deadline: number,
    { reserve = 0, signal }: { reserve?: number; signal?: AbortSignal } = {},
  ): Promise<boolean> {
    for (;;) {
      if (signal?.aborted === true) return false;
      const now = performance.now();
      const at = Math.max(now, this.heldUntil, this.nextSlot, ...this.resets(now, reserve));
      if (at > deadline) return false;
      if (at <= now) break;
      await sleep(Math.min(at - now, 250));
    }
    this.nextSlot = Math.max(this.nextSlot, performance.now() - 100) + 1_000 / this.perSecond;
    for (const window of this.windows.values()) window.remaining--;
    this.pending++;
    return true;
  }

  /** Updates the limits from the response to a request; null when there was none. */
  release(response: ServiceResponse | null): void {
    this.pending--;
    if (response === null) return;
    const { status, retryAfterMs, windows } = response;
    const now = performance.now();
    if (status === 429 && retryAfterMs !== null) this.heldUntil = Math.max(this.heldUntil, now + retryAfterMs);
    for (const { name, remaining, resetsInMs } of windows) {
      const known = this.windows.get(name);
      const resetsAt = now + resetsInMs;
      // Responses may arrive out of order: within a window the lowest value is right; in a new one pending requests count.
      const same = known !== undefined && Math.abs(known.resetsAt - resetsAt) < SAME_WINDOW_MS;
      const left = same ? Math.min(known.remaining, remaining) : remaining - this.pending;
      this.windows.set(name, { remaining: left, resetsAt });
    }
  }

  private resets(now: number, reserve: number): number[] {
    return [...this.windows.values()]
      .filter(({ remaining, resetsAt }) => remaining <= reserve && resetsAt > now)
      .map(({ resetsAt }) => resetsAt);
  }
}
