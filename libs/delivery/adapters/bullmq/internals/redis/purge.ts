import type { RedisQueueConnection } from '../../redis/redis-queue-connection.js';
import { placedJobs, removeTraces } from './job-places.js';
import { jobsOfEvents, removeEvents as removeEventsOf } from './stored-events.js';

export async function purge(connection: RedisQueueConnection, jobIds: readonly string[]): Promise<number> {
  let left = 0;
  for (const [shard, ids] of connection.byShard(jobIds)) {
    left += await removeTraces(shard, ids, true);
  }
  return left;
}

export async function* mentionedJobs(connection: RedisQueueConnection): AsyncGenerator<readonly string[]> {
  for (const shard of connection.shards) {
    yield* placedJobs(shard);
    yield* jobsOfEvents(shard);
  }
}

export async function removeEvents(connection: RedisQueueConnection, jobIds: readonly string[]): Promise<void> {
  const wanted = new Set(jobIds);
  for (const shard of connection.byShard(jobIds).keys()) await removeEventsOf(shard, wanted);
}
