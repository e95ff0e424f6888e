import type { Clock } from '#kernel/clock.js';
import type { Census, Stray } from './census.js';
import type { Deliveries } from './deliveries.js';
import { KEY_LIFETIME_MS, type Messages } from './messages.js';
import { PeriodicTask } from '#kernel/periodic-task.js';

const STRAYS_AT_ONCE = 500;
/** Jobs that others have ended are kept so long for people to look at; ours go at once. */
const FINISHED_JOB_LIFETIME_MS = 24 * 3_600_000;

export interface Reconciled {
  /** Strays that were put on their way again: each one is a fault somewhere. */
  readonly requeued: number;
  /** Messages whose job a worker other than ours has ended. */
  readonly followed: number;
}

/** Slowly and periodically puts right what no other part did. */
export class Reconciler {
  private readonly rounds = new PeriodicTask(() => this.run().then(this.report, this.report));
  private closed = false;

  constructor(
    private readonly census: Census,
    private readonly deliveries: Deliveries,
    private readonly messages: Messages,
    private readonly clock: Clock,
    private readonly report: (result: Reconciled | Error) => void,
  ) {}

  start(intervalMs: number): void {
    this.rounds.start(intervalMs);
  }

  /** Ends after what is under way: what is left waits for the next round, of whatever process. */
  async close(): Promise<void> {
    this.closed = true;
    await this.rounds.close();
  }

  async run(): Promise<Reconciled> {
    await this.census.mendClock();
    // First what needs no strays: a store in which these take too long must not fill up as well.
    await this.census.forgetJobs(FINISHED_JOB_LIFETIME_MS);
    await this.messages.forgetKeys(new Date(this.clock.now().getTime() - KEY_LIFETIME_MS));
    let requeued = 0;
    let followed = 0;
    let strays: Stray[];
    do {
      strays = await this.census.strays(STRAYS_AT_ONCE);
      // A job that was ended elsewhere was a delivery like any other; only nobody told the store.
      const ends = strays.flatMap(({ id, retries, endedElsewhere }) =>
        endedElsewhere === null ? [] : [{ id, retries, ...endedElsewhere }],
      );
      followed += await this.deliveries.follow(ends);
      for (const stray of strays) {
        if (stray.endedElsewhere !== null || this.closed) continue;
        await this.census.requeue(stray);
        requeued++;
      }
    } while (strays.length === STRAYS_AT_ONCE && !this.closed);
    return { requeued, followed };
  }
}
