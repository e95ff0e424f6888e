import type { RedisQueueConnection } from '../../redis/redis-queue-connection.js';
import type { RedisShard } from './redis-shard.js';

/** Ids that are read from a list by one command. */
const READ_AT_ONCE = 10_000;

/** Jobs whose places are looked up by one round trip. */
const AT_ONCE = 1_000;

const LISTS = ['wait', 'paused', 'active'] as const;
const SORTED_SETS = ['prioritized', 'delayed', 'completed', 'failed'] as const;

/** Keys that a job has beside its own. */
const SUFFIXES = ['', ':lock', ':logs', ':processed', ':failed', ':dependencies', ':unsuccessful'] as const;

/** The ids of those of these jobs that are where workers find them: a job that is in no list is never taken. */
export async function findableJobs(connection: RedisQueueConnection, ids: readonly string[]): Promise<Set<string>> {
  const findable = new Set<string>();
  for (const [shard, its] of connection.byShard(ids)) {
    const unsorted = new Set<string>();
    for (let start = 0; start < its.length; start += AT_ONCE) {
      const some = its.slice(start, start + AT_ONCE);
      const scores = await shard.read<string>((pipeline) =>
        some.reduce((all, id) => all.zscore(shard.key('prioritized'), id).zscore(shard.key('delayed'), id), pipeline),
      );
      for (const [index, id] of some.entries()) {
        const isSorted = (scores[2 * index] ?? scores[2 * index + 1] ?? null) !== null;
        (isSorted ? findable : unsorted).add(id);
      }
    }
    // Jobs move from the waiting to the active ones.
    for (const list of (await isPaused(shard)) ? LISTS : (['wait', 'active'] as const))
      for (const id of await listed(shard, list, unsorted)) findable.add(id);
  }
  return findable;
}

/** The ids of all jobs of a shard, in parts: from the last to the first, so that what is removed meanwhile moves no others. */
export async function* placedJobs(shard: RedisShard): AsyncGenerator<readonly string[]> {
  const places = [
    ...LISTS.map((name) => [name, 'llen', 'lrange'] as const),
    ...SORTED_SETS.map((name) => [name, 'zcard', 'zrange'] as const),
  ];
  for (const [name, count, range] of places) {
    const key = shard.key(name);
    const [length] = await shard.read<number>((pipeline) => pipeline[count](key));
    for (let end = length ?? 0; end > 0; end -= AT_ONCE) {
      const [ids] = await shard.read<string[]>((pipeline) => pipeline[range](key, Math.max(end - AT_ONCE, 0), end - 1));
      if (ids !== undefined && ids !== null && ids.length > 0) yield ids;
    }
  }
}

/** Removes all traces of these jobs of a shard, first those that lead workers to them. */
export async function removeTraces(shard: RedisShard, ids: readonly string[]): Promise<void> {
  const wanted = new Set(ids);
  for (const list of LISTS) {
    const found = [...(await listed(shard, list, wanted))];
    // Each of these searches the whole list.
    await shard.read((pipeline) => found.reduce((all, id) => all.lrem(shard.key(list), 0, id), pipeline));
  }
  await shard.read((pipeline) => {
    for (const set of SORTED_SETS) pipeline.zrem(shard.key(set), ...ids);
    pipeline.srem(shard.key('stalled'), ...ids);
    return ids.reduce((all, id) => all.del(SUFFIXES.map((suffix) => shard.key(id) + suffix)), pipeline);
  });
}

async function isPaused(shard: RedisShard): Promise<boolean> {
  const [paused] = await shard.read<number>((pipeline) => pipeline.hexists(shard.key('meta'), 'paused'));
  return paused === 1;
}

/** Those of these ids that a list has. One reading of the list costs less than a search for each of many ids. */
async function listed(
  shard: RedisShard,
  list: (typeof LISTS)[number],
  wanted: ReadonlySet<string>,
): Promise<Set<string>> {
  const found = new Set<string>();
  if (wanted.size === 0) return found;
  for (let start = 0; ; start += READ_AT_ONCE) {
    const [ids] = await shard.read<string[]>((pipeline) =>
      pipeline.lrange(shard.key(list), start, start + READ_AT_ONCE - 1),
    );
    for (const id of ids ?? []) if (wanted.has(id)) found.add(id);
    if ((ids ?? []).length < READ_AT_ONCE) return found;
  }
}
