import type { BatchObserver, Waiting } from './batcher.js';

/** A shorter overload is a burst or a pause of the database, and its requests are served late. */
const GRACE_MS = 1_000;
/** An overload ends when no request has had to wait too long for this time. */
const CALM_MS = 1_000;
/** The rate of a queue is measured over the last one to two spans of this length. */
const SPAN_MS = 1_000;

/**
 * Detects overload: when new requests would have to wait too long, persistently. @fastify/under-pressure measures the
 * event loop and the memory, which are idle while requests wait for the database.
 */
export class Backpressure {
  private readonly stages = new Map<string, Queue[]>();
  /** The first and the last check of the current overload, in milliseconds of `performance.now()`. */
  private since = -Infinity;
  private seenAt = -Infinity;

  constructor(private readonly maxWaitMs: number) {}

  /** For a batcher of a stage. A request passes all stages in sequence, and one batcher of each. */
  observer(stage: string): BatchObserver {
    const queue = new Queue(performance.now());
    this.stages.set(stage, [...(this.stages.get(stage) ?? []), queue]);
    return queue;
  }

  /** Whether a new request should be rejected. Must be read for every request. */
  get isTooHigh(): boolean {
    const now = performance.now();
    let waitMs = 0;
    for (const queues of this.stages.values()) waitMs += Math.max(...queues.map((queue) => queue.waitMs(now)));
    if (waitMs <= this.maxWaitMs) return false;
    if (now - this.seenAt > CALM_MS) this.since = now;
    this.seenAt = now;
    return now - this.since > GRACE_MS;
  }
}

/**
 * Estimates the wait in a queue: the time that its oldest item has waited, or that the items ahead take at the current
 * rate, if that is longer. The rate is measured only while items remain, since a queue that runs empty could be faster.
 */
class Queue implements BatchObserver {
  private waiting: Waiting | null = null;
  /** Items that left while others remained, and the time that took, in this span and in the one before. */
  private span = { items: 0, ms: 0 };
  private spanBefore = this.span;
  /** When the last run started, if items remained. */
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
