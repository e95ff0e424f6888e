import { WORKER_NAME } from '../../delivery-job.js';
import { repairKeys } from './key-repairs.js';
import type { RedisShard } from './redis-shard.js';

/** Jobs of a state that one call removes. Redis does nothing else meanwhile. */
const REMOVED_AT_ONCE = 1_000;

/** Of the delayed jobs, the latest ones: a wrong clock puts jobs there, and the cost does not grow with the others. */
const CHECKED = 1_000;

/** Differences of clocks that are not repaired, in milliseconds. */
const TOLERANCE_MS = 5_000;

/** The score of a delayed job is the milliseconds of its time times this, plus a counter. */
const MILLISECOND = 4_096;

export async function removeOldJobs(shards: readonly RedisShard[], olderThanMs: number): Promise<boolean> {
  const states = ['completed', 'failed'] as const;
  const removed = await Promise.all(
    shards.flatMap(({ queue }) => states.map((state) => queue.clean(olderThanMs, REMOVED_AT_ONCE, state))),
  );
  return removed.some(({ length }) => length >= REMOVED_AT_ONCE);
}

/**
 * Of timestamps only delays: locks, checks for stalled jobs and windows of the rate limit expire by the clock of Redis.
 * @param lockMs how long our workers lock a job, in milliseconds
 */
export async function repairFutureTimestamps(shards: readonly RedisShard[], lockMs: number): Promise<void> {
  await Promise.all(
    shards.map(async (shard) => {
      await repairKeys(shard, lockMs);
      await repairDelays(shard);
    }),
  );
}

async function repairDelays(shard: RedisShard): Promise<void> {
  const delayed = await shard.redis.zrevrange(shard.key('delayed'), 0, CHECKED - 1, 'WITHSCORES');
  const ids = delayed.filter((_value, index) => index % 2 === 0);
  const jobs = await shard.fields(ids, 'delay', 'pb');
  for (const [index, id] of ids.entries()) {
    const [delay, worker] = jobs[index] ?? [];
    const dueInMs = Number(delayed[2 * index + 1]) / MILLISECOND - Date.now();
    if (worker !== WORKER_NAME || dueInMs <= Number(delay) + TOLERANCE_MS) continue;
    await shard.queue.getBackend().changeDelay(id, Number(delay));
  }
}
