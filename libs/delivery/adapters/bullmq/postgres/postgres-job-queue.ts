import type pg from 'pg';
import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import type { RetryPolicy } from '#messages/index.js';
import type { CurrentQueue } from '../../../application/current-queue.js';
import { IN_POSTGRESQL, type Queryable, type QueueIdentity } from '../../../application/job-queue.js';
import { BullMqJobQueue } from '../bullmq-job-queue.js';
import { endsOf, inspect, readEnds, removeDead } from '../internals/postgres/job-ends.js';
import { removeOldJobs, repairFutureTimestamps } from '../internals/postgres/maintenance.js';
import { mentionedJobs, purge, removeEvents } from '../internals/postgres/purge.js';
import type { PostgresQueueConnection } from './postgres-queue-connection.js';
import { queueDepth } from '../internals/postgres/queue-depth.js';

/** BullMQ in the database of the messages. */
export class PostgresJobQueue extends BullMqJobQueue {
  private readonly database: Queryable;

  /** @param lockMs how long our workers lock a job, in milliseconds */
  constructor(
    private readonly connection: PostgresQueueConnection,
    policy: RetryPolicy,
    private readonly lockMs: number,
    currentQueue: Pick<CurrentQueue, 'isCurrent'>,
    activity = ALWAYS_ACTIVE,
  ) {
    super(connection, policy, currentQueue, activity);
    const { pool } = connection;
    this.database = {
      query: async <Row extends object>(text: string, values?: unknown[]) =>
        (await pool.query<Row & pg.QueryResultRow>(text, values)).rows,
    };
  }

  /** The database of the messages has their jobs as well: it can't lose only these. */
  identity(): Promise<QueueIdentity> {
    return Promise.resolve({ dataSet: IN_POSTGRESQL, contents: IN_POSTGRESQL });
  }

  /** A queue on Redis can't be reached any more: the walk finds its messages. */
  takeOver(): Promise<boolean> {
    return Promise.resolve(false);
  }

  inspect(jobIds: readonly string[]) {
    return inspect(this.database, this.name, jobIds);
  }

  endsOf(jobIds: readonly string[]) {
    return endsOf(this.database, this.name, jobIds);
  }

  removeDead(jobIds: readonly string[]): Promise<void> {
    return removeDead(this.database, this.name, jobIds);
  }

  purge(jobIds: readonly string[]): Promise<number> {
    return purge(this.database, this.name, jobIds);
  }

  mentionedJobs(): AsyncIterable<readonly string[]> {
    return mentionedJobs(this.database, this.name);
  }

  removeEvents(jobIds: readonly string[]): Promise<void> {
    return removeEvents(this.database, this.name, jobIds);
  }

  readEnds(position: string | null) {
    return readEnds(this.database, this.name, position);
  }

  listenForEnds(listener: () => void): boolean {
    this.connection.listenForEvents(listener);
    return true;
  }

  removeOldJobs(olderThanMs: number): Promise<boolean> {
    return removeOldJobs(this.database, this.name, olderThanMs);
  }

  repairFutureTimestamps(): Promise<void> {
    return repairFutureTimestamps(this.database, this.name, this.lockMs);
  }

  depth(database: Queryable) {
    return queueDepth(database, this.name);
  }

  private get name(): string {
    return this.connection.queue.name;
  }
}
