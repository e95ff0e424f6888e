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

/** Jobs that one script removes. */
const REMOVED_AT_ONCE = 100;

const luaList = (names: readonly string[]) => `{${names.map((name) => `'${name}'`).join(', ')}}`;

/**
 * A job is taken by one script of BullMQ, which also locks it: so it is removed by one, too. Each removal from a list
 * searches all of it: only lists are searched in which the job was seen, or all if it has left every place since.
 * KEYS: the prefix. ARGV: 1 to spare jobs that a worker has, then each id and the lists that have it.
 */
const REMOVE_TRACES = `
  local prefix, left = KEYS[1], 0
  for i = 2, #ARGV, 2 do
    local id = ARGV[i]
    if ARGV[1] == '1' and redis.call('EXISTS', prefix .. id .. ':lock') == 1 then left = left + 1
    else
      local removed = 0
      local function remove(command, ...)
        local count = redis.pcall(command, ...)
        if type(count) == 'number' then removed = removed + count end
      end
      for list in string.gmatch(ARGV[i + 1], '[^,]+') do remove('LREM', prefix .. list, 0, id) end
      for _, set in ipairs(${luaList(SORTED_SETS)}) do remove('ZREM', prefix .. set, id) end
      if removed == 0 then
        for _, list in ipairs(${luaList(LISTS)}) do remove('LREM', prefix .. list, 0, id) end
      end
      remove('SREM', prefix .. 'stalled', id)
      for _, suffix in ipairs(${luaList(SUFFIXES)}) do redis.call('DEL', prefix .. id .. suffix) end
    end
  end
  return left`;

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

/**
 * Removes all traces of these jobs of a shard.
 * @param isTakenSpared whether a job that a worker has is left to it
 * @returns how many were left
 */
export async function removeTraces(shard: RedisShard, ids: readonly string[], isTakenSpared: boolean): Promise<number> {
  const wanted = new Set(ids);
  const places = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const list of LISTS) for (const id of await listed(shard, list, wanted)) places.get(id)?.push(list);
  let left = 0;
  for (let start = 0; start < ids.length; start += REMOVED_AT_ONCE) {
    const some = ids.slice(start, start + REMOVED_AT_ONCE).flatMap((id) => [id, places.get(id)?.join(',') ?? '']);
    const [count] = await shard.read<number>((pipeline) =>
      pipeline.eval(REMOVE_TRACES, 1, shard.key(''), isTakenSpared ? 1 : 0, ...some),
    );
    left += count ?? 0;
  }
  return left;
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
