import { withTimeout } from '#kernel/timeout.js';

/** Milliseconds that somebody who looks waits for a value that is being read. */
const PATIENCE_MS = 3_000;

/** A value that is costly to read: read when it is asked for, but not again before some time has passed. */
export class Reading<T> {
  private value: T | null = null;
  private readAt = -Infinity;
  private underway: Promise<void> | null = null;

  constructor(
    private readonly everyMs: number,
    private readonly read: () => Promise<T>,
  ) {}

  /** The value as it was at most `everyMs` milliseconds ago; null when it can't be had, or not in time. */
  async latest(): Promise<T | null> {
    if (performance.now() - this.readAt < this.everyMs) return this.value;
    this.underway ??= this.refresh().finally(() => (this.underway = null));
    await withTimeout(this.underway, PATIENCE_MS, () => undefined);
    return performance.now() - this.readAt < this.everyMs ? this.value : null;
  }

  // A failure counts as a reading, too: what is away is not asked more often than what is there.
  private async refresh(): Promise<void> {
    const value = await this.read().catch(() => null);
    this.value = value;
    this.readAt = performance.now();
  }
}
