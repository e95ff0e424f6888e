import type { Queue } from 'bullmq';
import { asUnavailable, isContention } from '#platform/database/faults.js';
import { DeliveryQueue } from '../../application/delivery-queue.js';
import type { Message } from '../../domain/message.js';
import type { RetryPolicy } from '../../domain/retry-policy.js';
import { JOB_NAME, toJobData, toTelemetry } from './delivery-job.js';

/** Publishes through BullMQ's public API only. */
export class BullMqDeliveryQueue extends DeliveryQueue {
  /** @param policy for workers other than our own, which take it from the job */
  constructor(
    private readonly queue: Queue,
    private readonly policy: RetryPolicy,
  ) {
    super();
  }

  async add(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    const { maxAttempts: attempts, backoffMs } = this.policy;
    const backoff = { type: 'exponential', delay: backoffMs, jitter: 0.5 };
    const jobs = messages.map((message) => ({
      name: JOB_NAME,
      data: toJobData(message),
      opts: { jobId: message.jobId, attempts, backoff, ...toTelemetry(message) },
    }));
    // In one order everywhere, so that a relay and a sweeper with the same jobs can't lock each other out.
    jobs.sort((one, other) => (one.opts.jobId < other.opts.jobId ? -1 : 1));
    try {
      await this.queue.addBulk(jobs);
    } catch (error) {
      // A lock that was not to be had says nothing against the jobs.
      throw asUnavailable(asUnavailable(error), isContention);
    }
  }

  async remove(jobId: string): Promise<void> {
    try {
      await this.queue.remove(jobId);
    } catch (error) {
      throw asUnavailable(error);
    }
  }
}
