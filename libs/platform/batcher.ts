import { DomainError } from '#kernel/domain-error.js';

export interface BatcherOptions<Item> {
  /** Most items in one run. */
  readonly maxItems: number;
  /** Most bytes in one run, by `sizeOf`; a larger single item runs alone. */
  readonly maxBytes?: number;
  readonly sizeOf?: (item: Item) => number;
  /** Runs under way at once, 1 by default. */
  readonly concurrency?: number;
  /** Items, and bytes, that may wait; more are refused with `unavailable`. */
  readonly maxWaiting: number;
  readonly maxWaitingBytes?: number;
  readonly observer?: BatchObserver | undefined;
}

/** What waits for the next run. */
export interface Waiting {
  readonly items: () => number;
  readonly bytes: () => number;
  /** Milliseconds that the oldest has waited, 0 when nothing waits. */
  readonly oldestMs: () => number;
}

/** Looks on, for whoever runs the process. */
export interface BatchObserver {
  /** How much waits is asked for whenever somebody looks. */
  watch(waiting: Waiting): void;
  /** A run has begun with so many items. */
  ran(items: number): void;
}

/** Several that look on as one. */
export function observers(...all: readonly BatchObserver[]): BatchObserver {
  return {
    watch: (waiting) => {
      for (const one of all) one.watch(waiting);
    },
    ran: (items) => {
      for (const one of all) one.ran(items);
    },
  };
}

/** Items of a failed run that are repeated at the same time. */
const SINGLES_AT_ONCE = 2;

interface Submission<Item, Result> {
  readonly item: Item;
  /** In milliseconds of `performance.now()`. */
  readonly since: number;
  readonly bytes: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: what is submitted while a run is under way joins the next one, so that one round trip (and one
 * fsync) serves many callers, and a lone caller waits for nobody. Each caller gets its own outcome: a run that
 * fails for another reason than an unavailable store is repeated item by item, so that one can't fail its neighbours.
 */
export class Batcher<Item, Result> {
  private waiting: Submission<Item, Result>[] = [];
  private waitingBytes = 0;
  private running = 0;
  private scheduled = false;
  private idleCallbacks: (() => void)[] = [];

  /** @param run resolves to one result for each item, in their order */
  constructor(
    private readonly run: (items: Item[]) => Promise<Result[]>,
    private readonly options: BatcherOptions<Item>,
  ) {
    options.observer?.watch({
      items: () => this.waiting.length,
      bytes: () => this.waitingBytes,
      oldestMs: () => (this.waiting[0] === undefined ? 0 : performance.now() - this.waiting[0].since),
    });
  }

  submit(item: Item): Promise<Result> {
    const { sizeOf, maxWaiting, maxWaitingBytes = Infinity } = this.options;
    const bytes = sizeOf?.(item) ?? 0;
    if (this.waiting.length >= maxWaiting || this.waitingBytes + bytes > maxWaitingBytes) {
      return Promise.reject(new DomainError('unavailable', 'The service is at its limit. Repeat the request later.'));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, since: performance.now(), bytes, resolve, reject });
      this.waitingBytes += bytes;
      this.schedule();
    });
  }

  /** Resolves when nothing waits and nothing runs. */
  async idle(): Promise<void> {
    if (this.waiting.length === 0 && this.running === 0) return;
    await new Promise<void>((resolve) => this.idleCallbacks.push(resolve));
  }

  // Items of the same turn of the event loop travel together: without this the first would always go alone.
  private schedule(): void {
    if (this.scheduled || this.running >= (this.options.concurrency ?? 1)) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.start();
    });
  }

  private start(): void {
    if (this.waiting.length === 0) return;
    const batch = this.take();
    this.options.observer?.ran(batch.length);
    this.running++;
    void this.attempt(batch).finally(() => {
      this.running--;
      if (this.waiting.length > 0) this.schedule();
      else if (this.running === 0) for (const idle of this.idleCallbacks.splice(0)) idle();
    });
    if (this.waiting.length > 0) this.schedule();
  }

  private take(): Submission<Item, Result>[] {
    const { maxItems, maxBytes = Infinity } = this.options;
    let count = 0;
    let bytes = 0;
    for (const { bytes: size } of this.waiting) {
      if (count === maxItems || (count > 0 && bytes + size > maxBytes)) break;
      count++;
      bytes += size;
    }
    this.waitingBytes -= bytes;
    return this.waiting.splice(0, count);
  }

  private async attempt(batch: Submission<Item, Result>[]): Promise<void> {
    try {
      const results = await this.run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      const storeIsAway = error instanceof DomainError && error.code === 'unavailable';
      if (batch.length > 1 && !storeIsAway) {
        await this.oneByOne(batch);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  // A few at a time: an item that has to wait must not take the store's connections with it, nor hold up all the rest.
  private async oneByOne(batch: Submission<Item, Result>[]): Promise<void> {
    const rest = batch.values();
    const next = async () => {
      for (const one of rest) await this.attempt([one]);
    };
    await Promise.all(Array.from({ length: SINGLES_AT_ONCE }, next));
  }
}
