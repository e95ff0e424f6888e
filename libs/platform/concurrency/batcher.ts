import { DomainError } from '#kernel/domain-error.js';

export interface BatcherOptions<Item> {
  /** Maximum number of items in one run. */
  readonly maxItems: number;
  /** Maximum bytes in one run, by `sizeOf`. A larger item runs alone. */
  readonly maxBytes?: number;
  readonly sizeOf?: (item: Item) => number;
  /** Maximum number of concurrent runs, 1 by default. */
  readonly concurrency?: number;
  /** Runs start at least `ms` milliseconds apart while `expectsMore(waiting items)`, so that each has more items. */
  readonly spacing?: { readonly ms: number; readonly expectsMore: (waiting: number) => boolean };
  /** Maximum waiting items, and bytes; more are rejected with `unavailable`. */
  readonly maxWaiting: number;
  readonly maxWaitingBytes?: number;
  readonly observer?: BatchObserver | undefined;
}

/** The items that wait for the next run. */
export interface Waiting {
  readonly items: () => number;
  readonly bytes: () => number;
  /** Milliseconds that the oldest has waited; 0 when none waits. */
  readonly oldestMs: () => number;
}

/** Measures a batcher. */
export interface BatchObserver {
  /** Called once. `waiting` can be read at any time. */
  watch(waiting: Waiting): void;
  /** A run of this many items has started. */
  ran(items: number): void;
}

/** Combines several observers. */
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

/** Concurrent single-item runs after a failed run. */
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
 * Group commit: items that are submitted during a run join the next one, so that one round trip and one fsync serve many
 * callers, while a single caller does not wait for others. When a run fails, its items are run one by one, so that each
 * caller gets its own result; not so when the store is unavailable. DataLoader also gathers calls, but bounds neither the
 * runs in progress nor what waits.
 */
export class Batcher<Item, Result> {
  private waiting: Submission<Item, Result>[] = [];
  private waitingBytes = 0;
  private running = 0;
  private scheduled = false;
  /** In milliseconds of `performance.now()`. */
  private lastStart = -Infinity;
  private spacingTimer: NodeJS.Timeout | undefined;
  private idleCallbacks: (() => void)[] = [];

  /** @param run resolves to one result per item, in the same order */
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
      return Promise.reject(new DomainError('unavailable', 'The service is overloaded. Retry later.'));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, since: performance.now(), bytes, resolve, reject });
      this.waitingBytes += bytes;
      this.schedule();
    });
  }

  /** Resolves when no item waits or runs. */
  async idle(): Promise<void> {
    if (this.waiting.length === 0 && this.running === 0) return;
    await new Promise<void>((resolve) => this.idleCallbacks.push(resolve));
  }

  // Starts after the current iteration of the event loop, so that all items submitted in it share a run.
  private schedule(): void {
    if (this.scheduled || this.running >= (this.options.concurrency ?? 1)) return;
    const restMs = this.restMs();
    if (restMs > 0) {
      this.spacingTimer ??= setTimeout(() => {
        this.spacingTimer = undefined;
        this.schedule();
      }, restMs);
      return;
    }
    clearTimeout(this.spacingTimer);
    this.spacingTimer = undefined;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.start();
    });
  }

  /** How long the next run waits for more items. */
  private restMs(): number {
    const { spacing } = this.options;
    if (spacing?.expectsMore(this.waiting.length) !== true) return 0;
    return this.lastStart + spacing.ms - performance.now();
  }

  private start(): void {
    if (this.waiting.length === 0) return;
    this.lastStart = performance.now();
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
      const storeUnavailable = error instanceof DomainError && error.code === 'unavailable';
      if (batch.length > 1 && !storeUnavailable) await this.attemptEach(batch);
      else for (const { reject } of batch) reject(error);
    }
  }

  // A few at a time: a blocked item must neither occupy all connections nor delay all others.
  private async attemptEach(batch: Submission<Item, Result>[]): Promise<void> {
    const rest = batch.values();
    const next = async () => {
      for (const submission of rest) await this.attempt([submission]);
    };
    await Promise.all(Array.from({ length: SINGLES_AT_ONCE }, next));
  }
}
