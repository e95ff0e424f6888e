import type { Queue } from 'bullmq';
import { asUnavailable, isContention } from '#platform/database/errors.js';
import { FairTurns } from '../../application/fair-turns.js';
import { DeliveryQueue } from '../../application/delivery-queue.js';
import type { Message } from '../../domain/message.js';
import type { RetryPolicy } from '../../domain/retry-policy.js';
import { JOB_NAME, toJobData, toTelemetry } from './delivery-job.js';

/** Milliseconds for which it is known which turn is being served. */
const LOOK_AFTER_MS = 250;

/** Publishes through BullMQ's public API only. The turns of accounts are priorities of jobs, of which 0 is the first. */
export class BullMqDeliveryQueue extends DeliveryQueue {
  private readonly turns = new FairTurns();
  private lookedAt = -Infinity;

  /**
   * @param policy for workers other than our own, which take it from the job
   * @param nextTurn resolves to the priority of the job that is next; null when none waits
   */
  constructor(
    private readonly queue: Queue,
    private readonly policy: RetryPolicy,
    private readonly nextTurn: () => Promise<number | null>,
  ) {
    super();
  }

  async add(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    const { maxAttempts: attempts, backoffMs } = this.policy;
    const backoff = { type: 'exponential', delay: backoffMs, jitter: 0.5 };
    await this.look();
    const { turns, added } = this.turns.of(messages.map(({ state }) => state.accountId));
    const jobs = messages.map((message, index) => ({
      name: JOB_NAME,
      data: toJobData(message),
      opts: { jobId: message.jobId, attempts, backoff, ...toPriority(turns[index]), ...toTelemetry(message) },
    }));
    // In one order everywhere, so that a relay and a sweeper with the same jobs can't lock each other out.
    jobs.sort((one, other) => (one.opts.jobId < other.opts.jobId ? -1 : 1));
    try {
      await this.queue.addBulk(jobs);
      added();
    } catch (error) {
      // A lock that was not to be had says nothing against the jobs.
      throw asUnavailable(asUnavailable(error), isContention);
    }
  }

  private async look(): Promise<void> {
    if (performance.now() - this.lookedAt < LOOK_AFTER_MS) return;
    this.lookedAt = performance.now();
    // A hint: without it turns are those of the last look, and what ails the queue is said by the call that adds.
    await this.nextTurn().then(
      (turn) => {
        this.turns.see(turn);
      },
      () => undefined,
    );
  }

  async remove(jobId: string): Promise<void> {
    try {
      await this.queue.remove(jobId);
    } catch (error) {
      throw asUnavailable(error);
    }
  }
}

function toPriority(turn = 0): { priority?: number } {
  return turn === 0 ? {} : { priority: turn };
}
