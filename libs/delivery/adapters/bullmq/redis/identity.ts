import { createHash, randomUUID } from 'node:crypto';
import type { QueueIdentity } from '../../../application/job-queue.js';
import type { RedisShard } from '../internals/redis/redis-shard.js';

/**
 * For each shard, an id in Redis, which is gone when Redis has come back empty, and the run id of its server: after a
 * restart, the newest jobs may be missing.
 */
export async function identity(shards: readonly RedisShard[]): Promise<QueueIdentity> {
  const found = await Promise.all(shards.map((shard) => identityOf(shard)));
  const ids = found.map(({ id }) => id).join(' ');
  // Of fixed length and without spaces.
  const dataSet = createHash('sha256').update(ids).digest('hex');
  return { dataSet, contents: ['redis', ids, ...found.map(({ run }) => run)].join(' ') };
}

async function identityOf(shard: RedisShard): Promise<{ readonly id: string; readonly run: string }> {
  const key = shard.key('sluice-contents');
  const [id, info] = await Promise.all([shard.redis.get(key), shard.info('server')]);
  if (id !== null) return { id, run: /^run_id:(\w+)/m.exec(info)?.[1] ?? '' };
  // Only if it is missing: a Redis that is full refuses writes.
  await shard.redis.set(key, randomUUID(), 'NX');
  return identityOf(shard);
}
