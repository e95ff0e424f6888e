import type { BenchDatabase } from '../parts/environment.js';

const EVERY_MS = 200;

/** Age in milliseconds of the oldest outbox entry that is not in the queue; 0 if there is none. */
const OLDEST = `
  SELECT coalesce(max(extract(epoch FROM clock_timestamp() - created_at) * 1000), 0)::float8 FROM sluice.outbox o
  WHERE (SELECT true FROM bullmq.job j WHERE j.queue = 'messages' AND j.id = o.message_ids[1]) IS NULL`;

/** Samples how far the queue lags behind the store. */
export class OutboxAgeSampler {
  private readonly ages: number[] = [];
  private stopped = false;
  private readonly done: Promise<void>;

  constructor(private readonly store: BenchDatabase) {
    this.done = this.sample();
  }

  /** @returns the sampled ages, in milliseconds */
  async stop(): Promise<readonly number[]> {
    this.stopped = true;
    await this.done;
    return this.ages;
  }

  private async sample(): Promise<void> {
    while (!this.stopped) {
      this.ages.push(await this.store.number(OLDEST));
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }
}
