import { PeriodicTask } from '#kernel/periodic-task.js';
import type { Deliveries } from '#messages/index.js';
import type { JobEvents } from '#delivery/index.js';

export interface FollowerObserver {
  followingFailed(error: unknown): void;
}

/**
 * Updates messages soon after workers of other programs have ended their jobs. Several processes may do so at once. The
 * reconciler finds the jobs that it misses.
 */
export class JobFollower {
  private position: string | null = null;
  private readonly rounds = new PeriodicTask(() =>
    this.run().catch((error: unknown) => {
      this.observer.followingFailed(error);
    }),
  );

  constructor(
    private readonly events: JobEvents,
    private readonly deliveries: Deliveries,
    private readonly observer: FollowerObserver,
  ) {}

  start(everyMs: number): void {
    this.rounds.start(everyMs);
  }

  close(): Promise<void> {
    return this.rounds.close();
  }

  /** @returns the number of messages updated */
  async run(): Promise<number> {
    const { ends, position } = await this.events.read(this.position);
    const followed = await this.deliveries.follow(ends);
    this.position = position;
    return followed;
  }
}
