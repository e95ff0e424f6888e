import type { BackgroundTask } from '#kernel/background-task.js';
import type { Deliveries } from '#messages/index.js';
import type { JobQueue, StrayMessages } from '#delivery/index.js';

export interface FollowerObserver {
  followingFailed(error: unknown): void;
}

/**
 * Updates messages soon after workers of other programs have ended their jobs. Several processes may do so at once. The
 * reconciler finds the jobs that it misses.
 */
export class JobFollower implements BackgroundTask {
  readonly intervalMs = 500;
  private position: string | null = null;

  constructor(
    private readonly queue: Pick<JobQueue, 'readEnds'>,
    private readonly messages: Pick<StrayMessages, 'endsOfOpen'>,
    private readonly deliveries: Deliveries,
    private readonly observer: FollowerObserver,
  ) {}

  async run(): Promise<void> {
    await this.execute().catch((error: unknown) => {
      this.observer.followingFailed(error);
    });
  }

  /** @returns the number of messages updated */
  async execute(): Promise<number> {
    const { ends, position } = await this.queue.readEnds(this.position);
    const followed = await this.deliveries.follow(await this.messages.endsOfOpen(ends));
    this.position = position;
    return followed;
  }
}
