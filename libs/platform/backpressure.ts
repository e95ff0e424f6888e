/** Tells when more waits than can be served in time. */
export class Backpressure {
  private readonly queues: (() => number)[] = [];

  /** @param maxWaitMs milliseconds that anything may wait before what is new is better refused at once */
  constructor(private readonly maxWaitMs: number) {}

  /** @param oldestMs tells for how many milliseconds the oldest has been waiting, 0 when nothing waits */
  watch(oldestMs: () => number): void {
    this.queues.push(oldestMs);
  }

  get isTooHigh(): boolean {
    return this.queues.some((oldestMs) => oldestMs() > this.maxWaitMs);
  }
}
