import { DomainError } from '#kernel/domain-error.js';
import type { CurrentQueue } from '../../application/current-queue.js';
import { DeliveryQueue } from '../../application/delivery-queue.js';
import type { Message, RetryPolicy } from '#messages/index.js';
import { FairQueue } from './fair-queue.js';
import type { QueueConnection } from './queue-connection.js';

/** Divides the jobs among the queues of BullMQ, of which a connection says how each is reached. */
export class BullMqDeliveryQueue extends DeliveryQueue {
  private readonly queues;

  constructor(
    private readonly connection: QueueConnection,
    policy: RetryPolicy,
    private readonly currentQueue: Pick<CurrentQueue, 'isCurrent'>,
  ) {
    super();
    this.queues = connection.shards.map((shard) => ({ shard, fair: new FairQueue(shard, policy) }));
  }

  async add(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    if (!this.currentQueue.isCurrent) {
      throw new DomainError('unavailable', 'The queue of this process was replaced by another one.');
    }
    const shards = messages.map(({ id }) => this.connection.shardOf(id));
    const added = await Promise.allSettled(
      this.queues.map(async ({ shard, fair }) => {
        const ofShard = messages.filter((_message, index) => shards[index] === shard);
        if (ofShard.length > 0) await fair.add(ofShard);
      }),
    );
    const failed = added.find((result) => result.status === 'rejected');
    if (failed?.status === 'rejected') throw this.connection.asUnavailable(failed.reason);
  }

  /**
   * Gives retries that are due a turn. BullMQ moves delayed jobs to the waiting ones itself, and keeps their
   * priority; the turn of the attempt before may be long past or far ahead.
   */
  async giveTurnsToRetries(): Promise<void> {
    await Promise.all(this.queues.map(({ fair }) => fair.giveTurnsToRetries()));
  }

  async remove(jobId: string): Promise<void> {
    try {
      await this.connection.shardOf(jobId).queue.remove(jobId);
    } catch (error) {
      throw this.connection.asUnavailable(error);
    }
  }
}
