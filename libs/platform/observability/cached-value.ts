import { withTimeout } from '#kernel/timeout.js';

/** How long a caller waits for a value that is being read. */
const TIMEOUT_MS = 3_000;

/** A value that is expensive to read. It is read on demand and cached for a time. */
export class CachedValue<T> {
  private value: T | null = null;
  private readAt = -Infinity;
  private underway: Promise<void> | null = null;

  constructor(
    private readonly everyMs: number,
    private readonly read: () => Promise<T>,
  ) {}

  /** The value, at most `everyMs` milliseconds old; null when reading it fails or takes too long. */
  async latest(): Promise<T | null> {
    if (performance.now() - this.readAt < this.everyMs) return this.value;
    this.underway ??= this.refresh().finally(() => (this.underway = null));
    await withTimeout(this.underway, TIMEOUT_MS, () => undefined);
    return performance.now() - this.readAt < this.everyMs ? this.value : null;
  }

  // A failure is cached as well, so that an unavailable source is not read more often.
  private async refresh(): Promise<void> {
    const value = await this.read().catch(() => null);
    this.value = value;
    this.readAt = performance.now();
  }
}
