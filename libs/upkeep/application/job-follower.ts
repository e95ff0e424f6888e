import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import type { BackgroundTask } from '#kernel/background-task.js';
import type { Deliveries } from '#messages/index.js';
import type { JobQueue, StrayMessages } from '#delivery/index.js';

/** While the installation is quiet, and the queue would tell what is new. */
const TOLD_INTERVAL_MS = 60_000;

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
  /** Whether the queue tells when there is something to read. */
  private isTold: boolean | null = null;

  constructor(
    private readonly queue: Pick<JobQueue, 'readEnds' | 'listenForEnds'>,
    private readonly messages: Pick<StrayMessages, 'endsOfOpen'>,
    private readonly deliveries: Deliveries,
    private readonly observer: FollowerObserver,
    private readonly activity = ALWAYS_ACTIVE,
  ) {}

  get quietIntervalMs(): number {
    return this.isTold === true ? TOLD_INTERVAL_MS : this.intervalMs;
  }

  async run(): Promise<void> {
    this.isTold ??= this.queue.listenForEnds(() => {
      this.activity.note();
    });
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
