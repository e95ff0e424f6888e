import { createHash, randomUUID } from 'node:crypto';
import type { Database } from '#platform/database/database.js';
import { QueueContents, type QueueIdentity } from '../../../application/queue-contents.js';
import { IS_ANY_LEFT, TAKE_OVER } from '../left-jobs.sql.js';
import type { RedisQueueConnection } from './redis-queue-connection.js';
import type { RedisShard } from './redis-shard.js';

export class RedisQueueContents extends QueueContents {
  constructor(
    private readonly database: Database,
    private readonly connection: RedisQueueConnection,
  ) {
    super();
  }

  /**
   * For each shard, an id in Redis, which is gone when Redis has come back empty, and the run id of its server: after a
   * restart, the newest jobs may be missing.
   */
  async identity(): Promise<QueueIdentity> {
    const found = await Promise.all(this.connection.shards.map((shard) => identityOf(shard)));
    const ids = found.map(({ id }) => id).join(' ');
    // Of fixed length and without spaces.
    const dataSet = createHash('sha256').update(ids).digest('hex');
    return { dataSet, contents: ['redis', ids, ...found.map(({ run }) => run)].join(' ') };
  }

  async takeOver(): Promise<boolean> {
    const name = this.connection.queueName;
    // Mostly there is nothing to do.
    const left = await this.database.query(IS_ANY_LEFT, [name]);
    if (left.length === 0) return false;
    const [row] = await this.database.query<{ removed: number }>(TAKE_OVER, [name]);
    return (row?.removed ?? 0) > 0;
  }
}

async function identityOf(shard: RedisShard): Promise<{ readonly id: string; readonly run: string }> {
  const key = shard.key('sluice-contents');
  const [id, info] = await Promise.all([shard.redis.get(key), shard.info('server')]);
  if (id !== null) return { id, run: /^run_id:(\w+)/m.exec(info)?.[1] ?? '' };
  // Only if it is missing: a Redis that is full refuses writes.
  await shard.redis.set(key, randomUUID(), 'NX');
  return identityOf(shard);
}
