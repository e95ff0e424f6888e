import type { BackoffOptions } from 'bullmq';
import { FairScheduler, NO_TURN } from '../../application/fair-scheduler.js';
import type { Message, RetryPolicy } from '#messages/index.js';
import { JOB_NAME, toJobData, toTelemetry } from './delivery-job.js';
import type { QueueShard } from './queue-connection.js';

/** How long the current turn is cached. */
const TURN_CACHED_MS = 250;

/** Adds jobs to one queue of BullMQ, in turns of the accounts: these are priorities of jobs, of which 0 is the first. */
export class FairQueue {
  private readonly scheduler = new FairScheduler();
  private turnReadAt = -Infinity;
  /** For workers of other programs, which read it from the job. */
  private readonly retryOptions: { readonly attempts: number; readonly backoff: BackoffOptions };

  constructor(
    private readonly shard: QueueShard,
    private readonly policy: RetryPolicy,
  ) {
    const backoff = { type: 'exponential', delay: policy.backoffMs, jitter: 0.5 };
    this.retryOptions = { attempts: policy.maxAttempts, backoff };
  }

  async add(messages: readonly Message[]): Promise<void> {
    await this.refreshTurn();
    const due: Message[] = [];
    const jobs: ReturnType<typeof this.toJob>[] = [];
    for (const message of messages) {
      const delay = this.waitOf(message);
      // What waits is given a turn when it is due.
      if (delay > 0) jobs.push(this.toJob(message, { delay, priority: NO_TURN }));
      else due.push(message);
    }
    const { turns, added } = this.scheduler.assign(due.map(({ state }) => state.accountId));
    jobs.push(...due.map((message, index) => this.toJob(message, toPriority(turns[index]))));
    // Always in the same order, so that a relay and a sweeper with the same jobs can't deadlock.
    jobs.sort((one, other) => (one.opts.jobId < other.opts.jobId ? -1 : 1));
    await this.shard.queue.addBulk(jobs);
    added();
  }

  async giveTurnsToRetries(): Promise<void> {
    await this.shard.giveTurns(this.scheduler, () => this.refreshTurn());
  }

  private toJob(message: Message, when: { readonly delay?: number; readonly priority?: number }) {
    const opts = { jobId: message.jobId, ...this.retryOptions, ...when, ...toTelemetry(message) };
    return { name: JOB_NAME, data: toJobData(message), opts };
  }

  /** The milliseconds that remain until the next attempt of a message whose job was lost or is in another queue. */
  private waitOf({ state: { nextAttemptAt } }: Message): number {
    if (nextAttemptAt === null) return 0;
    // The clock of the worker that set it may have been wrong.
    return Math.max(0, Math.min(nextAttemptAt.getTime() - Date.now(), this.policy.maxBackoffMs));
  }

  private async refreshTurn(): Promise<void> {
    if (performance.now() - this.turnReadAt < TURN_CACHED_MS) return;
    this.turnReadAt = performance.now();
    // Only a hint: without it, the last known turn is used, and `addBulk` reports the error.
    const turn = await this.shard.nextPriority().catch(() => undefined);
    if (turn !== undefined) this.scheduler.setCurrentTurn(turn);
  }
}

function toPriority(turn = 0): { priority?: number } {
  return turn === 0 ? {} : { priority: turn };
}
