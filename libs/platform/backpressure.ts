import type { BatchObserver, Waiting } from './batcher.js';

/** Waiting that ends sooner is a burst or a hiccup of the store: whoever waits is answered, late. In milliseconds. */
const GRACE_MS = 1_000;
/** After so many milliseconds without anything that had to wait for too long, it is over. */
const CALM_MS = 1_000;
/** The rate of a queue is that of the last one to two times so many milliseconds. */
const SPAN_MS = 1_000;

/** Tells when more comes than can be done: when what comes must wait for too long, and goes on to. */
export class Backpressure {
  private readonly queues: Queue[] = [];
  /** In milliseconds of `performance.now()`: when something that would wait for too long was first and last seen. */
  private since = -Infinity;
  private seenAt = -Infinity;

  /** @param maxWaitMs milliseconds that is too long */
  constructor(private readonly maxWaitMs: number) {}

  /** For batches for which every request has to wait, one after the other. */
  observer(): BatchObserver {
    const queue = new Queue(performance.now());
    this.queues.push(queue);
    return queue;
  }

  /** Whether what comes now is better refused. To be asked for everything that comes. */
  get isTooHigh(): boolean {
    const now = performance.now();
    let waitMs = 0;
    for (const queue of this.queues) waitMs += queue.waitMs(now);
    if (waitMs <= this.maxWaitMs) return false;
    if (now - this.seenAt > CALM_MS) this.since = now;
    this.seenAt = now;
    return now - this.since > GRACE_MS;
  }
}

/**
 * How long one must wait in a queue: as long as its oldest has, or as what is ahead takes at the rate of late. The rate
 * is that at which it leaves while more is left: a queue that is empty most of the time could be faster than it is.
 */
class Queue implements BatchObserver {
  private waiting: Waiting | null = null;
  /** Items that left while more waited, and the milliseconds of that, in this span and in the one before. */
  private span = { items: 0, ms: 0 };
  private spanBefore = this.span;
  /** When something last left, if more was left then. */
  private backlogSince: number | null = null;

  /** @param spanSince milliseconds of `performance.now()` */
  constructor(private spanSince: number) {}

  watch(waiting: Waiting): void {
    this.waiting = waiting;
  }

  ran(items: number): void {
    const now = performance.now();
    if (this.backlogSince !== null) {
      this.span.items += items;
      this.span.ms += now - this.backlogSince;
    }
    this.backlogSince = this.ahead > 0 ? now : null;
  }

  waitMs(now: number): number {
    if (now - this.spanSince >= SPAN_MS) {
      this.spanBefore = this.span;
      this.span = { items: 0, ms: 0 };
      this.spanSince = now;
    }
    if (this.waiting === null || this.ahead === 0) return 0;
    const items = this.spanBefore.items + this.span.items;
    const expectedMs = items === 0 ? 0 : (this.ahead * (this.spanBefore.ms + this.span.ms)) / items;
    return Math.max(this.waiting.oldestMs(), expectedMs);
  }

  private get ahead(): number {
    return this.waiting?.items() ?? 0;
  }
}
