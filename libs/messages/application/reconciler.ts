import type { Clock } from '#kernel/clock.js';
import { PeriodicTask } from '#kernel/periodic-task.js';
import type { Deliveries } from './deliveries.js';
import { KEY_LIFETIME_MS, type Messages } from './messages.js';
import type { QueueMaintenance } from './queue-maintenance.js';
import type { StrayMessage, StrayMessages } from './stray-messages.js';

const STRAYS_PER_STEP = 500;
/** Jobs that other programs ended are kept this long for inspection; our workers remove theirs immediately. */
const ENDED_JOB_LIFETIME_MS = 24 * 3_600_000;

export interface Reconciled {
  /** Strays that were requeued: each one is evidence of a fault. */
  readonly requeued: number;
  /** Messages whose job a worker of another program has ended. */
  readonly followed: number;
}

export interface ReconcilerObserver {
  ran(result: Reconciled | Error): void;
}

/** Periodically repairs what crashes, other programs and wrong clocks have left behind. */
export class Reconciler {
  private readonly rounds = new PeriodicTask(async () => {
    this.observer.ran(await this.run().catch((error: unknown) => error as Error));
  });
  private closed = false;

  constructor(
    private readonly strays: StrayMessages,
    private readonly queue: QueueMaintenance,
    private readonly deliveries: Deliveries,
    private readonly messages: Messages,
    private readonly clock: Clock,
    private readonly observer: ReconcilerObserver,
  ) {}

  start(everyMs: number): void {
    this.rounds.start(everyMs);
  }

  /** Ends after the current step: the rest is left to the next round, of any process. */
  async close(): Promise<void> {
    this.closed = true;
    await this.rounds.close();
  }

  async run(): Promise<Reconciled> {
    await this.queue.repairFutureTimestamps();
    // Before the strays: a store in which finding them takes too long must not fill up as well.
    await this.queue.removeOldJobs(ENDED_JOB_LIFETIME_MS);
    await this.messages.deleteExpiredKeys(new Date(this.clock.now().getTime() - KEY_LIFETIME_MS));
    let requeued = 0;
    let followed = 0;
    let found: StrayMessage[];
    do {
      found = await this.strays.find(STRAYS_PER_STEP);
      const ends = found.flatMap(({ id, retries, endedElsewhere }) =>
        endedElsewhere === null ? [] : [{ id, retries, ...endedElsewhere }],
      );
      followed += await this.deliveries.follow(ends);
      for (const stray of found) {
        if (stray.endedElsewhere !== null || this.closed) continue;
        await this.strays.requeue(stray);
        requeued++;
      }
    } while (found.length === STRAYS_PER_STEP && !this.closed);
    return { requeued, followed };
  }
}
