import { setMaxListeners } from 'node:events';
import { DelayedError, ErrorCode, UnrecoverableError, type Job, type Worker } from 'bullmq';
import type { Activity } from '#kernel/activity.js';
import { withTimeout } from '#kernel/timeout.js';
import type { Outcome } from '../../application/deliver-message.js';
import { NO_TURN } from '../../application/fair-scheduler.js';
import {
  ENDED_JOB_LIFETIME_MS,
  type ConsumerObserver,
  type ConsumerOptions,
  type ProcessClock,
  type RunJob,
} from '../../application/job-queue.js';
import { fromJob, WORKER_NAME, type DeliveryJobData } from './delivery-job.js';
import { reserveOf, WorkerPlaces } from './worker-places.js';
import type { QueueShard } from './queue-connection.js';
import { StuckWatch } from './stuck-watch.js';

/** Crashes alone never fail a message, so no number of them may fail its job. The largest integer of PostgreSQL. */
const NEVER = 2_147_483_647;

/**
 * What BullMQ says of a job that a worker can't end any more: its lock has expired, or the job is gone, such as one of a
 * deleted account. How the attempt ended is stored already, or does not count.
 */
const LOST = new Set<unknown>([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
]);

/** A job is repeated after this long when the store could not be reached. */
const STORE_AWAY: Outcome = { kind: 'again', afterMs: 1_000 };

/** How often workers look for jobs whose worker is silent. */
function stalledIntervalOf(lockMs: number): number {
  return Math.max(500, Math.round(lockMs * 0.4));
}

/** How long keys may expire by a clock that was changed. */
const MAX_COMPARE_EVERY_MS = 1_000;

/** A job is taken over after two checks for stalled ones; a wrong clock is detected between them. */
export function clockWatchOptions({ lockMs }: Pick<ConsumerOptions, 'lockMs'>) {
  return {
    everyMs: Math.min(Math.round(stalledIntervalOf(lockMs) / 2), MAX_COMPARE_EVERY_MS),
    toleranceMs: Math.round(lockMs / 4),
  };
}

/** How long it may take to hand over what is unfinished when the worker stops. */
const HANDOVER_MS = 1_500;

/** Takes jobs from one queue of BullMQ and runs them. */
export class ShardConsumer {
  private readonly worker: Worker;
  private readonly stuckWatch: StuckWatch;
  private readonly places: WorkerPlaces;
  private readonly stopping = new AbortController();

  constructor(
    shard: QueueShard,
    mayUseReserve: (places: number) => Promise<boolean>,
    private readonly runJob: RunJob,
    { concurrency, rate, lockMs }: ConsumerOptions,
    clock: ProcessClock,
    private readonly observer: ConsumerObserver,
    activity: Pick<Activity, 'isQuiet'>,
  ) {
    // The reserve is not used with a rate limit, which BullMQ checks for each job.
    const slots = concurrency + (rate > 0 ? 0 : reserveOf(concurrency));
    this.places = new WorkerPlaces(concurrency, () =>
      mayUseReserve(concurrency).catch((error: unknown) => {
        observer.failed(error, 'looking for jobs for the reserve failed');
        return false;
      }),
    );
    // One for each delivery in progress.
    setMaxListeners(slots, this.stopping.signal);
    this.worker = shard.createWorker((job, token) => this.process(job as Job<DeliveryJobData>, token), {
      name: WORKER_NAME,
      autorun: false,
      concurrency: slots,
      places: this.places,
      ...(rate > 0 && { limiter: { max: rate, duration: 1_000 } }),
      lockDuration: lockMs,
      stalledInterval: stalledIntervalOf(lockMs),
      maxStalledCount: NEVER,
      runRetryDelay: 1_000,
      // No window of ours is longer. It also bounds how long a worker waits for one that a wrong clock has made.
      maximumRateLimitDelay: 1_000,
      // Only for inspection: the message's row is authoritative.
      removeOnFail: { age: ENDED_JOB_LIFETIME_MS / 1_000 },
    });
    this.worker.on('error', (error) => {
      const { code } = error as { readonly code?: unknown };
      this.observer.failed(error, LOST.has(code) ? 'a job was taken over or removed while it ran' : 'queue error');
    });
    clock.onChange((isRight) => {
      if (isRight) void this.worker.resume();
      else void this.worker.pause(true);
    });
    const firstJob = async () =>
      this.places.free > 0 && clock.isRight && !activity.isQuiet ? shard.firstWaitingJob() : null;
    this.stuckWatch = new StuckWatch(firstJob, () => {
      observer.stuck();
    });
  }

  /** `paused` while the clock of this process is wrong, `stuck` while it takes no jobs for an unknown reason. */
  get state(): 'serving' | 'paused' | 'stuck' {
    if (this.worker.isPaused()) return 'paused';
    return this.stuckWatch.isStuck ? 'stuck' : 'serving';
  }

  start(): void {
    if (!this.worker.isPaused()) void this.worker.run();
    this.stuckWatch.start();
  }

  /**
   * Takes no more jobs, waits at most `graceMs` for those in progress, and hands the rest over to other workers.
   * @param abandon called when that takes too long
   */
  async close(graceMs: number, abandon: () => void): Promise<void> {
    const closed = Promise.all([this.worker.close(), this.stuckWatch.close()]);
    await withTimeout(closed, graceMs, () => {
      this.stopping.abort();
    });
    await withTimeout(closed, HANDOVER_MS, abandon);
  }

  private async process(job: Job<DeliveryJobData>, token: string | undefined): Promise<string> {
    // For this job only: the worker's option would also remove jobs that other programs completed and that are not
    // followed yet.
    job.opts.removeOnComplete = true;
    const id = job.id ?? '';
    const taken = fromJob(id, job.data);
    this.places.begin(id);
    this.stuckWatch.took();
    const outcome = await this.runJob(taken, this.stopping.signal).catch((error: unknown) => {
      this.observer.failed(error, 'a delivery was interrupted');
      return STORE_AWAY;
    });
    this.places.end(id);
    switch (outcome.kind) {
      case 'done':
        // Marks the job's event as ours.
        return WORKER_NAME;
      case 'failed':
        throw new UnrecoverableError(outcome.reason);
      case 'again':
        await this.delay(job, outcome.afterMs, token).catch((error: unknown) => {
          // It is taken over once its lock has expired. Any other error would use up one of BullMQ's attempts.
          this.observer.failed(error, 'a job could not be delayed');
        });
        throw new DelayedError();
    }
  }

  private async delay(job: Job, ms: number, token: string | undefined): Promise<void> {
    // Once due, it is given a turn like a new job.
    await job.changePriority({ priority: NO_TURN });
    await job.moveToDelayed(Date.now() + ms, token);
  }
}
