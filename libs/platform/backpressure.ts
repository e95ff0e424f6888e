/** Waiting that ends sooner is a burst or a hiccup of the store: whoever waits is answered, late. In milliseconds. */
const GRACE_MS = 3_000;
/** After so many milliseconds without anything that waited for too long, it is over. */
const CALM_MS = 1_000;

/** Tells when more comes than can be done: when what waits has been waiting for too long, and goes on to. */
export class Backpressure {
  private readonly queues: (() => number)[] = [];
  /** In milliseconds of `performance.now()`: when something that waited for too long was first and last seen. */
  private since = -Infinity;
  private seenAt = -Infinity;

  /** @param maxWaitMs milliseconds that is too long */
  constructor(private readonly maxWaitMs: number) {}

  /** @param oldestMs tells for how many milliseconds the oldest has been waiting, 0 when nothing waits */
  watch(oldestMs: () => number): void {
    this.queues.push(oldestMs);
  }

  /** Whether what comes now is better refused. To be asked for everything that comes. */
  get isTooHigh(): boolean {
    if (!this.queues.some((oldestMs) => oldestMs() > this.maxWaitMs)) return false;
    const now = performance.now();
    if (now - this.seenAt > CALM_MS) this.since = now;
    this.seenAt = now;
    return now - this.since > GRACE_MS;
  }
}
