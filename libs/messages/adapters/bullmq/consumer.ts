import { DelayedError, UnrecoverableError, type Job } from 'bullmq';
import type { Logger } from '#platform/logging.js';
import type { DeliverMessage } from '../../application/deliver-message.js';
import { ClockWatch } from './clock-watch.js';
import { fromJob, type DeliveryJobData } from './delivery-job.js';
import type { QueueConnection } from './queue-connection.js';

/** BullMQ stores it with a job; the reconciler tells by it our own workers from others'. */
export const WORKER_NAME = 'sluice';

/** Crashes alone never fail a message, so no count of them may fail its job. The largest integer of PostgreSQL. */
const NEVER = 2_147_483_647;

export interface ConsumerOptions {
  readonly queueName: string;
  readonly concurrency: number;
  /** Jobs that all workers of the queue with such a limit begin in a second; 0 for no limit. */
  readonly rate: number;
  /** Milliseconds after which a worker that is silent has lost its jobs. */
  readonly lockMs: number;
}

/** Takes jobs from BullMQ and lets `DeliverMessage` run them. */
export class Consumer {
  private readonly worker: InstanceType<QueueConnection['classes']['Worker']>;
  private readonly clockWatch: ClockWatch;
  private readonly stopping = new AbortController();

  constructor(
    connection: QueueConnection,
    private readonly deliver: DeliverMessage,
    { queueName, concurrency, rate, lockMs }: ConsumerOptions,
    private readonly logger: Logger,
  ) {
    const stalledInterval = Math.max(500, Math.round(lockMs * 0.4));
    this.worker = new connection.classes.Worker<unknown, unknown>(
      queueName,
      (job, token) => this.process(job as Job<DeliveryJobData>, token),
      {
        connection: connection.pool,
        name: WORKER_NAME,
        autorun: false,
        concurrency,
        ...(rate > 0 && { limiter: { max: rate, duration: 1_000 } }),
        lockDuration: lockMs,
        stalledInterval,
        maxStalledCount: NEVER,
        runRetryDelay: 1_000,
        // A failed job is kept for a day to be looked at. The record is the message's own row.
        removeOnFail: { age: 86_400 },
      },
    );
    this.worker.on('error', (error) => {
      this.logger.warn({ err: error }, 'queue');
    });
    // A job is taken away in two checks: a wrong clock is noticed between them.
    const watch = { everyMs: Math.round(stalledInterval / 2), toleranceMs: Math.round(lockMs / 4) };
    this.clockWatch = new ClockWatch(connection.pool, watch, (aheadMs) => {
      this.clockIsWrong(aheadMs);
    });
  }

  get takesJobs(): boolean {
    return !this.worker.isPaused();
  }

  async start(): Promise<void> {
    await this.clockWatch.start();
    if (!this.worker.isPaused()) void this.worker.run();
  }

  /**
   * Takes no more jobs and waits for those that run, at most `graceMs`.
   * @returns false when some still run: they are taken over by another worker once this process has ended
   */
  async close(graceMs: number): Promise<boolean> {
    this.clockWatch.stop();
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<false>((resolve) => {
      timer = setTimeout(() => {
        resolve(false);
      }, graceMs);
    });
    const ended = await Promise.race([this.worker.close().then(() => true), grace]);
    clearTimeout(timer);
    this.stopping.abort();
    return ended;
  }

  private clockIsWrong(aheadMs: number | null): void {
    if (aheadMs === null) {
      this.logger.warn('the clock is right again: jobs are taken');
      void this.worker.resume();
    } else {
      this.logger.error(
        { aheadMs },
        "this process's clock differs from the database's: no job is taken until it is right",
      );
      void this.worker.pause(true);
    }
  }

  private async process(job: Job<DeliveryJobData>, token: string | undefined): Promise<string> {
    // Said of this job alone: the worker's option would also drop what others completed and nobody has followed yet.
    job.opts.removeOnComplete = true;
    const outcome = await this.deliver.execute(fromJob(job.id ?? '', job.data), this.stopping.signal);
    switch (outcome.kind) {
      case 'done':
        // Its event then tells that nobody else has completed it.
        return WORKER_NAME;
      case 'failed':
        throw new UnrecoverableError(outcome.reason);
      case 'again':
        // Its turn has come once: another account's backlog is not to come before it when it is due again.
        if (job.priority > 0) await job.changePriority({ priority: 0 });
        await job.moveToDelayed(Date.now() + outcome.afterMs, token);
        throw new DelayedError();
    }
  }
}
