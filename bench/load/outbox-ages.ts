import type { Store } from '../parts/bed.js';

const EVERY_MS = 200;

/** Milliseconds since the oldest entry was made that the queue has not got yet; 0 if there is none. */
const OLDEST = `
  SELECT coalesce(max(extract(epoch FROM clock_timestamp() - created_at) * 1000), 0)::float8 FROM sluice.outbox o
  WHERE NOT EXISTS (SELECT FROM bullmq.job j WHERE j.queue = 'messages' AND j.id = o.message_ids[1])`;

/** Looks, a few times a second, how far the queue is behind the store. */
export class OutboxAges {
  private readonly ages: number[] = [];
  private stopped = false;
  private readonly done: Promise<void>;

  constructor(private readonly store: Store) {
    this.done = this.look();
  }

  /** @returns the ages seen, in milliseconds */
  async stop(): Promise<readonly number[]> {
    this.stopped = true;
    await this.done;
    return this.ages;
  }

  private async look(): Promise<void> {
    while (!this.stopped) {
      this.ages.push(await this.store.number(OLDEST));
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }
}
