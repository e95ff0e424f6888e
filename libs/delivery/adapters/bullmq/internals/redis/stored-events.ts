import { GONE, type JobEndRow } from '../job-ends.js';
import type { RedisShard } from './redis-shard.js';

const AT_ONCE = 1_000;

/** The queue keeps about so many events. It trims them by pages. */
export const MAX_EVENTS = 10_000;

/** The events of BullMQ, and those of Sluice's own processes. */
const STREAMS = ['events', 'sluice-events'] as const;

type Entry = readonly [id: string, fields: readonly string[]];

const fieldOf = ([, fields]: Entry, field: string) => {
  const at = fields.findIndex((name, index) => index % 2 === 0 && name === field);
  return at === -1 ? undefined : fields[at + 1];
};

async function* pagesOf(shard: RedisShard, stream: string, from = '-'): AsyncGenerator<readonly Entry[]> {
  for (let start = from; ;) {
    const page: [string, string[]][] = await shard.redis.xrange(shard.key(stream), start, '+', 'COUNT', AT_ONCE);
    if (page.length > 0) yield page;
    if (page.length < AT_ONCE) return;
    start = `(${page.at(-1)?.[0] ?? ''}`;
  }
}

/** The ids of the jobs that events of a shard are about, in parts. */
export async function* jobsOfEvents(shard: RedisShard): AsyncGenerator<readonly string[]> {
  for (const stream of STREAMS) {
    for await (const page of pagesOf(shard, stream)) {
      const ids = page.flatMap((entry) => fieldOf(entry, 'jobId') ?? []);
      if (ids.length > 0) yield [...new Set(ids)];
    }
  }
}

/** Removes the events of these jobs of a shard. */
export async function removeEvents(shard: RedisShard, jobIds: ReadonlySet<string>): Promise<void> {
  for (const stream of STREAMS) {
    for await (const page of pagesOf(shard, stream)) {
      const entries = page.filter((entry) => jobIds.has(fieldOf(entry, 'jobId') ?? ''));
      if (entries.length > 0) await shard.redis.xdel(shard.key(stream), ...entries.map(([id]) => id));
    }
  }
}

/**
 * The last of some events of each job, by its id, and the position of the newest event.
 * @param from the position of the first event that is read; `-` for the oldest
 */
export async function lastEvents(
  shard: RedisShard,
  names: readonly ('added' | 'completed' | 'failed')[],
  from: string,
) {
  const last = new Map<string, JobEndRow>();
  let position: string | null = null;
  let read = 0;
  for await (const page of pagesOf(shard, 'events', from)) {
    for (const entry of page) {
      position = entry[0];
      const event = names.find((name) => name === entry[1][1]);
      const jobId = event === undefined ? undefined : fieldOf(entry, 'jobId');
      if (event === undefined || jobId === undefined) continue;
      last.set(jobId, {
        ...GONE,
        ended: event,
        failed_reason: fieldOf(entry, 'failedReason') ?? null,
        return_value: fieldOf(entry, 'returnvalue') ?? null,
      });
    }
    read += page.length;
    if (read >= 2 * MAX_EVENTS) break;
  }
  return { last, position };
}
