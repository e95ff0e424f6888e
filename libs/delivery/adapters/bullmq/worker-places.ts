import { setTimeout as sleep } from 'node:timers/promises';

/** How often a worker whose places are all held looks for a job that may use the reserve. */
const LOOK_EVERY_MS = 50;

/** A job that was taken but not begun after this long never begins: BullMQ has ended it by itself. */
const BEGINS_WITHIN_MS = 5_000;

/** The places above the concurrency of a worker that only messages of the express turn can use. */
export function reserveOf(concurrency: number): number {
  return concurrency < 5 ? 0 : Math.max(1, Math.floor(concurrency / 10));
}

/** The places of a worker: who has them, and when the reserve above them is used. */
export class WorkerPlaces {
  private readonly taken = new Map<string, number>();
  private readonly running = new Set<string>();
  private wake: AbortController | null = null;
  private isOpen = false;

  /**
   * @param count of the places without the reserve
   * @param mayUseReserve called while no place is free: whether a job waits that may use the reserve
   */
  constructor(
    private readonly count: number,
    private readonly mayUseReserve: () => Promise<boolean>,
  ) {}

  /** Places that any job can have. */
  get free(): number {
    const lost = performance.now() - BEGINS_WITHIN_MS;
    for (const [id, at] of this.taken) if (at < lost) this.taken.delete(id);
    return Math.max(0, this.count - this.taken.size - this.running.size);
  }

  /** A job was taken from the queue. */
  take(id: string): void {
    if (!this.running.has(id)) this.taken.set(id, performance.now());
  }

  begin(id: string): void {
    this.taken.delete(id);
    this.running.add(id);
  }

  /** It has run, or was put back. */
  end(id: string): void {
    this.taken.delete(id);
    this.running.delete(id);
  }

  /** Resolves when a place is free, or a job waits that may use the reserve, or after `maxMs`, or when interrupted. */
  async untilUsable(maxMs: number): Promise<void> {
    const wake = (this.wake = new AbortController());
    const until = performance.now() + maxMs;
    const isUseless = () => !wake.signal.aborted && this.free === 0 && performance.now() < until;
    while (isUseless()) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: wake.signal }).catch(() => undefined);
      this.isOpen = isUseless() && (await this.mayUseReserve());
      if (this.isOpen) return;
    }
  }

  /** Whether jobs of the express turn can be taken although no place is free. */
  get isReserveOpen(): boolean {
    return this.isOpen;
  }

  /** No more of them wait. */
  closeReserve(): void {
    this.isOpen = false;
  }

  /** Ends a wait. */
  interrupt(): void {
    this.wake?.abort();
  }
}
