import { FairScheduler } from '../../application/fair-scheduler.js';
import type { Message } from '../../domain/message.js';
import type { RetryPolicy } from '../../domain/retry-policy.js';
import { JOB_NAME, toJobData, toTelemetry } from './delivery-job.js';
import type { QueueShard } from './queue-connection.js';

/** How long the current turn is cached. */
const TURN_CACHED_MS = 250;

/** Adds jobs to one queue of BullMQ, in turns of the accounts: these are priorities of jobs, of which 0 is the first. */
export class FairQueue {
  private readonly scheduler = new FairScheduler();
  private turnReadAt = -Infinity;

  /** @param policy for workers of other programs, which read it from the job */
  constructor(
    private readonly shard: QueueShard,
    private readonly policy: RetryPolicy,
  ) {}

  async add(messages: readonly Message[]): Promise<void> {
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
    await this.shard.queue.addBulk(jobs);
    added();
  }

  async giveTurnsToRetries(): Promise<void> {
    let found: number;
    do {
      await this.refreshTurn();
      found = await this.shard.giveTurns(this.scheduler);
    } while (found > 0);
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
