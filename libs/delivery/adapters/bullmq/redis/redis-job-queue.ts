import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import type { RetryPolicy } from '#messages/index.js';
import type { Database } from '#platform/database/database.js';
import type { CurrentQueue } from '../../../application/current-queue.js';
import type { InspectedJob, QueueIdentity } from '../../../application/job-queue.js';
import { BullMqJobQueue } from '../bullmq-job-queue.js';
import { findLeft, takeOver } from '../internals/postgres/left-jobs.js';
import { identity } from './identity.js';
import { endsOf, inspect, readEnds, removeDead } from '../internals/redis/job-ends.js';
import { removeOldJobs, repairFutureTimestamps } from '../internals/redis/maintenance.js';
import { mentionedJobs, purge, removeEvents } from '../internals/redis/purge.js';
import type { RedisQueueConnection } from './redis-queue-connection.js';

/** BullMQ on Redis. */
export class RedisJobQueue extends BullMqJobQueue {
  /**
   * @param database where jobs may be left of an earlier queue
   * @param lockMs how long our workers lock a job, in milliseconds
   */
  constructor(
    private readonly database: Pick<Database, 'query' | 'transaction'>,
    private readonly connection: RedisQueueConnection,
    policy: RetryPolicy,
    private readonly lockMs: number,
    currentQueue: Pick<CurrentQueue, 'isCurrent'>,
    activity = ALWAYS_ACTIVE,
  ) {
    super(connection, policy, currentQueue, activity);
  }

  identity(): Promise<QueueIdentity> {
    return identity(this.connection.shards);
  }

  takeOver(requeue: (jobIds: readonly string[]) => Promise<unknown>): Promise<boolean> {
    return takeOver(this.database, this.connection.queueName, requeue);
  }

  /** A job that is left in a queue on PostgreSQL is live: it is taken over, or a worker has it. */
  async inspect(jobIds: readonly string[]): Promise<Map<string, InspectedJob>> {
    const jobs = await inspect(this.connection, jobIds);
    const notLive = jobIds.filter((id) => jobs.get(id)?.isLive !== true);
    for (const id of await findLeft(this.database, this.connection.queueName, notLive))
      jobs.set(id, { isLive: true, foreignEnd: null });
    return jobs;
  }

  endsOf(jobIds: readonly string[]) {
    return endsOf(this.connection, jobIds);
  }

  removeDead(jobIds: readonly string[]): Promise<void> {
    return removeDead(this.connection, jobIds);
  }

  purge(jobIds: readonly string[]): Promise<number> {
    return purge(this.connection, jobIds);
  }

  mentionedJobs(): AsyncIterable<readonly string[]> {
    return mentionedJobs(this.connection);
  }

  removeEvents(jobIds: readonly string[]): Promise<void> {
    return removeEvents(this.connection, jobIds);
  }

  readEnds(position: string | null) {
    return readEnds(this.connection, position);
  }

  listenForEnds(): boolean {
    return false;
  }

  removeOldJobs(olderThanMs: number): Promise<boolean> {
    return removeOldJobs(this.connection.shards, olderThanMs);
  }

  repairFutureTimestamps(): Promise<void> {
    return repairFutureTimestamps(this.connection.shards, this.lockMs);
  }

  depth() {
    return this.connection.depth();
  }
}
