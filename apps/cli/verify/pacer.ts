import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './service.js';

interface Kept {
  remaining: number;
  resetsAt: number;
}

/** Windows that end this close together, in milliseconds, are one: they are told in whole seconds. */
const SAME_MS = 1_500;

/** Keeps all callers together to a rate, and to the limits that the service tells of. */
export class Pacer {
  private readonly windows = new Map<string, Kept>();
  private underWay = 0;
  private heldUntil = 0;
  private nextSlot = 0;

  constructor(private readonly perSecond: number) {}

  /**
   * Resolves when one more request may be sent.
   * @param deadline `performance.now()`
   * @param reserve requests to leave for others
   * @returns false when that is not before `deadline`, or when `signal` is aborted meanwhile
   */
  async turn(
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
    this.underWay++;
    return true;
  }

  /** Takes note of what the answer to a request says of the limits; null when there was none. */
  note(answer: Answer | null): void {
    this.underWay--;
    if (answer === null) return;
    const { status, retryAfterMs, windows } = answer;
    const now = performance.now();
    if (status === 429 && retryAfterMs !== null) this.heldUntil = Math.max(this.heldUntil, now + retryAfterMs);
    for (const { name, remaining, resetsInMs } of windows) {
      const known = this.windows.get(name);
      const resetsAt = now + resetsInMs;
      // Answers overtake each other, so of one window the least is true; in a new one, what is under way counts.
      const same = known !== undefined && Math.abs(known.resetsAt - resetsAt) < SAME_MS;
      const left = same ? Math.min(known.remaining, remaining) : remaining - this.underWay;
      this.windows.set(name, { remaining: left, resetsAt });
    }
  }

  private resets(now: number, reserve: number): number[] {
    return [...this.windows.values()]
      .filter(({ remaining, resetsAt }) => remaining <= reserve && resetsAt > now)
      .map(({ resetsAt }) => resetsAt);
  }
}
