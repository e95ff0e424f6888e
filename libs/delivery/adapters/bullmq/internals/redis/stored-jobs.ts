import { GONE, type JobEndRow } from '../job-ends.js';
import type { RedisQueueConnection } from '../../redis/redis-queue-connection.js';
import type { RedisShard } from './redis-shard.js';
import { HAVE_DATA, WAITING_JOBS } from './stored-jobs.lua.js';

/*
 * Only the files of this folder know BullMQ's keys and scripts. They are its internals: the version is pinned, and
 * test/contracts/bullmq-internals.spec.ts says what an upgrade has to compare.
 */

const FIELDS = [
  ...['timestamp', 'finishedOn', 'returnvalue', 'failedReason', 'processedOn', 'pb', 'atm', 'stc'],
  ...['ats', 'delay', 'priority', 'opts'],
] as const;

/** Jobs that are read by one round trip. */
const AT_ONCE = 1_000;

/** A job that is still in the queue. */
export interface StoredJob {
  /**
   * Null while it waits, runs or is delayed; `broken` when it has lost its content, and with it how it ended, or when no
   * worker can take or read it.
   */
  readonly ended: 'completed' | 'failed' | 'broken' | null;
  readonly end: JobEndRow;
}

/** Those of these jobs that wait unharmed in a sorted set, as most of a full queue do: one script finds them at less cost. */
export async function waitingJobs(connection: RedisQueueConnection, ids: readonly string[]): Promise<Set<string>> {
  const waiting = new Set<string>();
  for (const [shard, shardIds] of connection.byShard(ids)) {
    const keys = [shard.key('prioritized'), shard.key('delayed')] as const;
    for (let start = 0; start < shardIds.length; start += AT_ONCE) {
      const some = shardIds.slice(start, start + AT_ONCE);
      const found = await shard.redis.eval(WAITING_JOBS, 2, ...keys, shard.key(''), ...some);
      for (const position of found as number[]) waiting.add(some[position - 1] ?? '');
    }
  }
  return waiting;
}

/** The jobs that the queue has of these, by their ids. Their state follows from their fields: lists are not searched. */
export async function storedJobs(
  connection: RedisQueueConnection,
  ids: readonly string[],
): Promise<Map<string, StoredJob>> {
  const jobs = new Map<string, StoredJob>();
  for (const [shard, shardIds] of connection.byShard(ids)) {
    for (let start = 0; start < shardIds.length; start += AT_ONCE)
      await readJobs(shard, shardIds.slice(start, start + AT_ONCE), jobs);
  }
  return jobs;
}

async function readJobs(shard: RedisShard, ids: readonly string[], jobs: Map<string, StoredJob>): Promise<void> {
  const found = await shard.fields(ids, ...FIELDS);
  const [haveData = null] = await shard.read<number[]>((pipeline) =>
    pipeline.eval(HAVE_DATA, ids.length, ...ids.map((id) => shard.key(id)), ...ids),
  );
  for (const [index, id] of ids.entries()) {
    const fields = found[index];
    if (fields === undefined) continue;
    if (fields[0] !== null && haveData?.[index] === 1 && isReadable(fields)) jobs.set(id, toJob(fields));
    // For example, a worker has started what was evicted, and has so stored a part of it again.
    else if (fields.some((value) => value !== null)) jobs.set(id, { ended: 'broken', end: GONE });
  }
}

/** Whether BullMQ can read these: it fails otherwise, and the job stays where it is. */
function isReadable(fields: readonly (string | null)[]): boolean {
  const [timestamp, finishedOn, , , processedOn, , made, stalled, started, delay, priority, opts = null] = fields;
  const numbers = [timestamp, finishedOn, processedOn, made, stalled, started, delay, priority];
  if (numbers.some((text) => text != null && (text.trim() === '' || !Number.isFinite(Number(text))))) return false;
  try {
    return opts === null || opts === '' || typeof (JSON.parse(opts) ?? '') === 'object';
  } catch {
    return false;
  }
}

function toJob(fields: readonly (string | null)[]): StoredJob {
  const [, finishedOn, returned = null, reason = null, processedOn, worker = null, made, stalled] = fields;
  const isCompleted = returned !== null;
  return {
    ended: finishedOn == null ? null : isCompleted ? 'completed' : 'failed',
    end: {
      ended: isCompleted ? 'completed' : 'failed',
      attempts: Number(made),
      stalled: Number(stalled),
      // A worker without a name leaves the name of the previous worker.
      processed_by: isCompleted ? null : worker,
      failed_reason: reason,
      processed_at: processedOn == null ? null : new Date(Number(processedOn)),
      finished_at: finishedOn == null ? null : new Date(Number(finishedOn)),
      return_value: returned,
    },
  };
}
