import type { Activity } from '#kernel/activity.js';
import { DomainError } from '#kernel/domain-error.js';
import type { Message, RetryPolicy } from '#messages/index.js';
import type { CurrentQueue } from '../../application/current-queue.js';
import {
  JobQueue,
  type ConsumerObserver,
  type ConsumerOptions,
  type Consuming,
  type ProcessClock,
  type RunJob,
} from '../../application/job-queue.js';
import { BullMqConsumer } from './bullmq-consumer.js';
import { FairQueue } from './fair-queue.js';
import type { QueueConnection } from './queue-connection.js';

/**
 * BullMQ as a queue, divided into shards. What its public API does not offer depends on the store, and is left to each
 * adapter.
 */
export abstract class BullMqJobQueue extends JobQueue {
  private readonly queues;

  constructor(
    private readonly bullmq: QueueConnection,
    policy: RetryPolicy,
    private readonly currentQueue: Pick<CurrentQueue, 'isCurrent'>,
    private readonly activity: Pick<Activity, 'isQuiet' | 'onWake'>,
  ) {
    super();
    this.queues = bullmq.shards.map((shard) => ({ shard, fair: new FairQueue(shard, policy) }));
  }

  get isUp(): boolean | null {
    return this.bullmq.isUp;
  }

  async add(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    if (!this.currentQueue.isCurrent) {
      throw new DomainError('unavailable', 'The queue of this process was replaced by another one.');
    }
    const shards = messages.map(({ id }) => this.bullmq.shardOf(id));
    const added = await Promise.allSettled(
      this.queues.map(async ({ shard, fair }) => {
        const ofShard = messages.filter((_message, index) => shards[index] === shard);
        if (ofShard.length > 0) await fair.add(ofShard);
      }),
    );
    const failed = added.find((result) => result.status === 'rejected');
    if (failed?.status === 'rejected') throw this.bullmq.asUnavailable(failed.reason);
  }

  /** Gives turns to what has become due, and other ones to what is ahead of its turn. */
  async giveTurns(): Promise<void> {
    await Promise.all(this.queues.map(({ fair }) => fair.giveTurns()));
  }

  async remove(jobId: string): Promise<void> {
    try {
      await this.bullmq.shardOf(jobId).queue.remove(jobId);
    } catch (error) {
      throw this.bullmq.asUnavailable(error);
    }
  }

  consume(run: RunJob, options: ConsumerOptions, clock: ProcessClock, observer: ConsumerObserver): Consuming {
    return new BullMqConsumer(
      this.bullmq,
      this.queues.map(({ fair }) => fair),
      run,
      options,
      clock,
      observer,
      this.activity,
    );
  }

  close(): Promise<void> {
    return this.bullmq.close();
  }
}
