import type { Census } from './census.js';
import type { Deliveries } from './deliveries.js';
import { PeriodicTask } from '#kernel/periodic-task.js';

/**
 * Lets a message's status follow its job soon after a worker other than ours has ended it. Several processes may do so
 * at once. What it misses, the reconciler finds.
 */
export class JobFollower {
  private position: string | null = null;
  private readonly rounds = new PeriodicTask(() => this.run().catch(this.report));

  constructor(
    private readonly census: Census,
    private readonly deliveries: Deliveries,
    private readonly report: (error: unknown) => void,
  ) {}

  start(intervalMs: number): void {
    this.rounds.start(intervalMs);
  }

  close(): Promise<void> {
    return this.rounds.close();
  }

  /** @returns how many messages followed */
  async run(): Promise<number> {
    const { ends, position } = await this.census.news(this.position);
    const followed = await this.deliveries.follow(ends);
    this.position = position;
    return followed;
  }
}
