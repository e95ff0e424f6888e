import { GONE, type JobEndRow } from '../job-ends.js';
import type { RedisShard } from './redis-shard.js';

const AT_ONCE = 1_000;

/** The queue keeps about so many events. It trims them by pages. */
export const MAX_EVENTS = 10_000;

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
  for (let read = 0; read < 2 * MAX_EVENTS; read += AT_ONCE) {
    const start: string = position === null ? from : `(${position}`;
    const page: [string, string[]][] = await shard.redis.xrange(shard.key('events'), start, '+', 'COUNT', AT_ONCE);
    for (const [id, fields] of page) {
      position = id;
      const value = (field: string) => fields[fields.findIndex((name, at) => at % 2 === 0 && name === field) + 1];
      const event = names.find((name) => name === fields[1]);
      const jobId = event === undefined ? undefined : value('jobId');
      if (event === undefined || jobId === undefined) continue;
      last.set(jobId, {
        ...GONE,
        ended: event,
        failed_reason: value('failedReason') ?? null,
        return_value: value('returnvalue') ?? null,
      });
    }
    if (page.length < AT_ONCE) break;
  }
  return { last, position };
}
