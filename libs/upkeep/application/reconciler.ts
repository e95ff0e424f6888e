import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import { PeriodicTask } from '#kernel/periodic-task.js';
import type { Deliveries, Messages, StuckKeys } from '#messages/index.js';
import type { EventLog } from '#events/index.js';
import type { EndExpiredLeases } from '#pull/index.js';
import { ENDED_JOB_LIFETIME_MS, type JobQueue, type StrayMessages } from '#delivery/index.js';
import type { Reconciliation } from './reconciliation.js';

/** Open messages that are checked in one statement, of about 0.1 s. */
const CHECKED_AT_ONCE = 20_000;
/** How long a step repeats itself while it finds something to do; the rest is left to the next run. */
const STEP_MS = 3_000;

export const STEPS = [
  'repair_timestamps',
  'remove_ended_jobs',
  'delete_keys',
  'delete_events',
  'end_leases',
  'requeue_strays',
  'release_keys',
] as const;
export type Step = (typeof STEPS)[number];

/**
 * While the installation is quiet, each n-th run does all steps: some delete what is older than an hour. The others do
 * nothing if no messages are open.
 */
const RARELY = 10;
const RARE: ReadonlySet<Step> = new Set(['remove_ended_jobs', 'delete_keys', 'delete_events']);

export interface Reconciled {
  /** Strays that were requeued, and keys that were stuck: each one is evidence of a fault. */
  readonly requeued: number;
  /** Messages whose job a worker of another program has ended. */
  readonly followed: number;
}

export interface ReconcilerObserver {
  healed(what: Reconciled): void;
  /** The other steps run nevertheless. */
  failed(step: Step | 'turn', error: unknown): void;
}

/** Periodically repairs what crashes, other programs and wrong clocks have left behind. */
export class Reconciler {
  /** Each does a part of its work and resolves to whether there is more. */
  private readonly steps: Readonly<Record<Step, () => Promise<boolean>>> = {
    repair_timestamps: () => this.queue.repairFutureTimestamps().then(() => false),
    remove_ended_jobs: () => this.queue.removeOldJobs(ENDED_JOB_LIFETIME_MS),
    delete_keys: () => this.messages.deleteExpiredKeys(),
    delete_events: () => this.events.deleteExpired(),
    end_leases: () => this.expired.execute(),
    requeue_strays: () => this.requeueStrays(),
    release_keys: () => this.releaseKeys(),
  };
  private runs: PeriodicTask | null = null;
  private closed = false;
  private rounds = 0;

  constructor(
    private readonly strays: StrayMessages,
    private readonly queue: Pick<JobQueue, 'removeOldJobs' | 'repairFutureTimestamps'>,
    private readonly deliveries: Deliveries,
    private readonly messages: Messages,
    private readonly events: Pick<EventLog, 'deleteExpired'>,
    private readonly expired: Pick<EndExpiredLeases, 'execute'>,
    private readonly keys: StuckKeys,
    private readonly reconciliation: Reconciliation,
    private readonly observer: ReconcilerObserver,
    private readonly activity = ALWAYS_ACTIVE,
  ) {}

  /** @param isAllowed asked before each run */
  start(everyMs: number, isAllowed: () => boolean): void {
    this.runs = new PeriodicTask(async () => {
      if (!isAllowed()) return;
      const isRare = this.rounds++ % RARELY === 0;
      const isQuiet = !isRare && this.activity.isQuiet;
      await this.reconciliation
        .take(everyMs, (keep) => this.run(keep, isQuiet), isQuiet)
        .catch((error: unknown) => {
          this.observer.failed('turn', error);
        });
    });
    this.runs.start(everyMs);
  }

  /** Ends after the current statement: the rest is left to the next run, of any process. */
  async close(): Promise<void> {
    this.closed = true;
    await this.runs?.close();
  }

  /**
   * @param keep called before each step, which takes less than 15 seconds
   * @param isQuiet then it leaves out the steps that are not urgent
   */
  async run(keep: () => Promise<unknown>, isQuiet = false): Promise<void> {
    for (const step of STEPS) {
      if (isQuiet && RARE.has(step)) continue;
      await keep();
      const deadline = performance.now() + STEP_MS;
      try {
        while (!this.closed && (await this.steps[step]()) && performance.now() < deadline);
      } catch (error) {
        this.observer.failed(step, error);
      }
    }
  }

  /**
   * Requeues strays among the next open messages.
   * @returns whether it found any: then there was a fault, which may have made many
   */
  async requeueStrays(): Promise<boolean> {
    const page = await this.strays.findAfter(await this.reconciliation.position(), CHECKED_AT_ONCE);
    if (page === null) return false;
    const found = page.strays;
    const ends = found.flatMap(({ endedElsewhere }) => (endedElsewhere === null ? [] : [endedElsewhere]));
    const strays = found.filter(({ endedElsewhere }) => endedElsewhere === null);
    // Moves on before they are requeued, so that one that can't be does not stop the walk.
    await this.reconciliation.advance(page.position, strays.length);
    if (ends.length + strays.length === 0) return false;
    await this.strays.requeue(strays);
    const followed = await this.deliveries.follow(ends);
    this.activity.note();
    this.observer.healed({ requeued: strays.length, followed });
    return strays.length > 0;
  }

  /** @returns whether it found any */
  private async releaseKeys(): Promise<boolean> {
    const requeued = await this.keys.release();
    if (requeued === 0) return false;
    await this.reconciliation.count(requeued);
    this.observer.healed({ requeued, followed: 0 });
    return true;
  }
}
