import type { JobJson, JobsOptions } from 'bullmq';
import { databaseClock } from '#kernel/clock.js';
import { FairScheduler, NO_TURN } from '../../application/fair-scheduler.js';
import { HELD_AFTER_MS, HeldPlaces } from '../../application/held-places.js';
import type { Message, RetryPolicy } from '#messages/index.js';
import { JOB_NAME, toJobData, toTelemetry } from './delivery-job.js';
import type { QueueShard } from './queue-connection.js';

/** How long it is cached what waits and who holds places; and while the places of a worker have just run out. */
const VIEW_CACHED_MS = 250;
const SHORT_VIEW_CACHED_MS = 100;

/** Adds jobs to one queue of BullMQ, in turns of the accounts: these are priorities of jobs, of which 0 is the first. */
export class FairQueue {
  private readonly held = new HeldPlaces();
  private readonly scheduler = new FairScheduler(this.held);
  private viewedAt = -Infinity;
  private expressWaits = false;
  /** For workers of other programs, which read it from the job. */
  private readonly retryOptions: Pick<JobsOptions, 'attempts' | 'backoff'>;

  constructor(
    private readonly shard: QueueShard,
    private readonly policy: RetryPolicy,
  ) {
    const backoff = { type: 'exponential', delay: policy.backoffMs, jitter: 0.5 };
    this.retryOptions = { attempts: policy.maxAttempts, backoff };
  }

  async add(messages: readonly Message[]): Promise<void> {
    await this.refresh();
    const due: Message[] = [];
    const jobs: JobJson[] = [];
    for (const message of messages) {
      const delay = this.waitOf(message);
      // What waits is given a turn when it is due.
      if (delay > 0) jobs.push(this.toJob(message, NO_TURN, delay));
      else due.push(message);
    }
    const { turns, added } = this.scheduler.assign(due.map(({ state }) => state.accountId));
    for (const [index, message] of due.entries()) jobs.push(this.toJob(message, turns[index]));
    // Always in the same order, so that a relay and a sweeper with the same jobs can't deadlock.
    jobs.sort((one, other) => (one.id < other.id ? -1 : 1));
    // Not by `queue.addBulk`: for each job it makes an object of BullMQ's, which takes as long as all else here.
    await this.shard.queue.getBackend().addJobs(jobs.map((job) => ({ job, jobId: job.id, parentKeyOpts: {} })));
    added();
  }

  /**
   * Gives retries that are due a turn, and jobs of heavy accounts another one. BullMQ moves delayed jobs to the waiting ones
   * itself, and keeps their priority; the turn of the attempt before may be long past or far ahead.
   */
  async giveTurns(): Promise<void> {
    await this.shard.giveTurns(this.scheduler, () => this.refresh());
    await this.moveHeavyBehind();
  }

  /**
   * Whether a job waits that may use the reserve of a worker whose places are all in use: one of the express turn, once
   * those who hold the places are known.
   * @param places of the worker
   */
  async mayUseReserve(places: number): Promise<boolean> {
    const isShort = this.held.total >= places / 2;
    await this.moveHeavyBehind(isShort ? VIEW_CACHED_MS : SHORT_VIEW_CACHED_MS);
    return this.held.total >= places / 2 && (await this.shard.hasExpress());
  }

  private async moveHeavyBehind(maxAgeMs = VIEW_CACHED_MS): Promise<void> {
    await this.refresh(maxAgeMs);
    const { heavyAccounts } = this.held;
    if (!this.expressWaits || heavyAccounts.length === 0) return;
    // Once each time that the queue was looked at.
    this.expressWaits = false;
    await this.shard.moveBehind(heavyAccounts, this.scheduler);
  }

  private toJob(message: Message, priority = 0, delay = 0): JobJson {
    const { jobId } = message;
    const opts: JobsOptions = { jobId, ...this.retryOptions };
    if (priority > 0) opts.priority = priority;
    if (delay > 0) opts.delay = delay;
    const telemetry = toTelemetry(message);
    if (telemetry) opts.telemetry = telemetry;
    return {
      id: jobId,
      name: JOB_NAME,
      data: JSON.stringify(toJobData(message)),
      opts,
      timestamp: Date.now(),
      progress: 0,
      attemptsMade: 0,
      attemptsStarted: 0,
      stalledCounter: 0,
      // Of a job that has not ended, they are not stored.
      failedReason: '',
      returnvalue: '',
    };
  }

  /** The milliseconds that remain until the next attempt of a message whose job was lost or is in another queue. */
  private waitOf({ state: { nextAttemptAt } }: Message): number {
    if (nextAttemptAt === null) return 0;
    // The clock of the worker that set it may have been wrong.
    return Math.max(0, Math.min(nextAttemptAt.getTime() - databaseClock.now().getTime(), this.policy.maxBackoffMs));
  }

  private async refresh(maxAgeMs = VIEW_CACHED_MS): Promise<void> {
    if (performance.now() - this.viewedAt < maxAgeMs) return;
    this.viewedAt = performance.now();
    // Only a hint: without it, what is known is used, and adding the jobs reports the error.
    const view = await this.shard.view(HELD_AFTER_MS).catch(() => undefined);
    if (view === undefined) return;
    this.expressWaits = view.express;
    this.held.observe(view.held, performance.now());
    this.scheduler.setWaiting(view);
  }
}
