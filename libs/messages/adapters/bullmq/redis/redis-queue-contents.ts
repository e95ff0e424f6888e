import { randomUUID } from 'node:crypto';
import type { Database } from '#platform/database/database.js';
import { QueueContents, type QueueIdentity } from '../../../application/queue-contents.js';
import { TAKE_OVER } from '../postgres/left-jobs.sql.js';
import type { RedisQueueConnection } from './redis-queue-connection.js';

export class RedisQueueContents extends QueueContents {
  constructor(
    private readonly database: Database,
    private readonly connection: RedisQueueConnection,
  ) {
    super();
  }

  /**
   * An id in Redis, which is gone when Redis has come back empty, and one of the server's run: after a restart, the
   * newest jobs may be missing.
   */
  async identity(): Promise<QueueIdentity> {
    const key = this.connection.key('sluice-contents');
    const [id, info] = await this.connection.ask<[string | null, string]>((pipeline) =>
      pipeline.get(key).info('server'),
    );
    // Not always: a Redis without memory refuses to.
    if (id === null) await this.connection.redis.set(key, randomUUID(), 'NX');
    if (id === null) return this.identity();
    return { dataSet: id, contents: `redis ${id} ${/^run_id:(\w+)/m.exec(info)?.[1] ?? ''}` };
  }

  async takeOver(): Promise<boolean> {
    const { name } = this.connection.queue;
    // Mostly there is nothing to do.
    const left = await this.database.query('SELECT FROM bullmq.job WHERE queue = $1 LIMIT 1', [name]);
    if (left.length === 0) return false;
    const [row] = await this.database.query<{ removed: number }>(TAKE_OVER, [name]);
    return (row?.removed ?? 0) > 0;
  }
}
