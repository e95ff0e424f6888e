import { DomainError } from '#kernel/domain-error.js';
import type { CurrentQueue } from '../../application/current-queue.js';
import { DeliveryQueue } from '../../application/delivery-queue.js';
import { FairScheduler } from '../../application/fair-scheduler.js';
import type { Message } from '../../domain/message.js';
import type { RetryPolicy } from '../../domain/retry-policy.js';
import { JOB_NAME, toJobData, toTelemetry } from './delivery-job.js';
import type { QueueConnection } from './queue-connection.js';

/** How long the current turn is cached. */
const TURN_CACHED_MS = 250;

/** Uses BullMQ's public API only. The turns of accounts are priorities of jobs, of which 0 is the first. */
export class BullMqDeliveryQueue extends DeliveryQueue {
  private readonly scheduler = new FairScheduler();
  private turnReadAt = -Infinity;

  /** @param policy for workers of other programs, which read it from the job */
  constructor(
    private readonly connection: QueueConnection,
    private readonly policy: RetryPolicy,
    private readonly currentQueue: Pick<CurrentQueue, 'isCurrent'> = { isCurrent: true },
  ) {
    super();
  }

  async add(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    if (!this.currentQueue.isCurrent) throw new DomainError('unavailable', 'Another queue is the current one.');
    const { maxAttempts: attempts, backoffMs } = this.policy;
    const backoff = { type: 'exponential', delay: backoffMs, jitter: 0.5 };
    await this.refreshTurn();
    const { turns, added } = this.scheduler.assign(messages.map(({ state }) => state.accountId));
    const jobs = messages.map((message, index) => ({
      name: JOB_NAME,
      data: toJobData(message),
      opts: { jobId: message.jobId, attempts, backoff, ...toPriority(turns[index]), ...toTelemetry(message) },
    }));
    // Always in the same order, so that a relay and a sweeper with the same jobs can't deadlock.
    jobs.sort((one, other) => (one.opts.jobId < other.opts.jobId ? -1 : 1));
    try {
      await this.connection.queue.addBulk(jobs);
      added();
    } catch (error) {
      throw this.connection.asUnavailable(error);
    }
  }

  /**
   * Gives every retry that is due a turn. BullMQ moves delayed jobs to the waiting ones itself, and keeps their
   * priority; the turn of the attempt before may be long past or far ahead.
   */
  async giveTurnsToRetries(): Promise<void> {
    let found: number;
    do {
      await this.refreshTurn();
      found = await this.connection.giveTurns(this.scheduler);
    } while (found > 0);
  }

  private async refreshTurn(): Promise<void> {
    if (performance.now() - this.turnReadAt < TURN_CACHED_MS) return;
    this.turnReadAt = performance.now();
    // Only a hint: without it, the last known turn is used, and `addBulk` reports the error.
    const turn = await this.connection.nextPriority().catch(() => undefined);
    if (turn !== undefined) this.scheduler.setCurrentTurn(turn);
  }

  async remove(jobId: string): Promise<void> {
    try {
      await this.connection.queue.remove(jobId);
    } catch (error) {
      throw this.connection.asUnavailable(error);
    }
  }
}

function toPriority(turn = 0): { priority?: number } {
  return turn === 0 ? {} : { priority: turn };
}
