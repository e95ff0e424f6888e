import type { ForeignEnd } from '../../../../application/foreign-end.js';
import type { ForeignEnds, InspectedJob } from '../../../../application/job-queue.js';
import { endByOthers, OUR_RESULT } from '../job-ends.js';
import { findableJobs, removeTraces } from './job-places.js';
import type { RedisQueueConnection } from '../../redis/redis-queue-connection.js';
import type { RedisShard } from './redis-shard.js';
import { lastEvents, MAX_EVENTS } from './stored-events.js';
import { storedJobs, waitingJobs, type StoredJob } from './stored-jobs.js';

/** A message may still be claimed when its job ends: events of this many milliseconds before are read again. */
const REREAD_MS = 1_000;

export async function inspect(
  connection: RedisQueueConnection,
  jobIds: readonly string[],
): Promise<Map<string, InspectedJob>> {
  const waiting = await waitingJobs(connection, jobIds);
  const jobs = await storedJobs(
    connection,
    jobIds.filter((id) => !waiting.has(id)),
  );
  const live = await liveJobs(connection, jobs);
  const inspected = new Map<string, InspectedJob>();
  for (const id of waiting) inspected.set(id, { isLive: true, foreignEnd: null });
  for (const [id, { ended, end }] of jobs)
    inspected.set(id, { isLive: live.has(id), foreignEnd: ended === null ? null : endByOthers(end) });
  return inspected;
}

/** All in one reading of all shards: no index leads to the events of a job. */
export async function endsOf(connection: RedisQueueConnection, jobIds: readonly string[]) {
  const wanted = new Set(jobIds);
  const ends = new Map<string, ForeignEnd>();
  for (const shard of connection.shards) {
    const { last } = await lastEvents(shard, ['added', 'completed', 'failed'], '-');
    for (const [jobId, event] of last) {
      const end = wanted.has(jobId) ? endByOthers(event) : null;
      if (end !== null) ends.set(jobId, end);
    }
  }
  return ends;
}

export async function removeDead(connection: RedisQueueConnection, jobIds: readonly string[]): Promise<void> {
  const live = await liveJobs(connection, await storedJobs(connection, jobIds));
  const dead = jobIds.filter((id) => !live.has(id));
  for (const [shard, ids] of connection.byShard(dead)) {
    const events = shard.key('events');
    // The event keeps the end of the removed job from being taken for that of a new one.
    await shard.ask((pipeline) =>
      ids.reduce(
        (all, id) => all.xadd(events, 'MAXLEN', '~', MAX_EVENTS, '*', 'event', 'added', 'jobId', id),
        pipeline,
      ),
    );
    await removeTraces(shard, ids, false);
  }
}

export async function readEnds(connection: RedisQueueConnection, position: string | null): Promise<ForeignEnds> {
  const positions = position?.split(' ') ?? [];
  const read = await Promise.all(connection.shards.map((shard, index) => readShard(shard, positions[index] ?? null)));
  const last = new Map(read.flatMap((one) => one.others));
  const jobs = await storedJobs(connection, [...last.keys()]);
  const ends = new Map<string, ForeignEnd>();
  for (const [jobId, event] of last) {
    const job = jobs.get(jobId);
    // A failed job that is gone may be one of ours that was just removed to be queued again.
    const isCurrent = event.ended === (job === undefined ? 'completed' : job.ended);
    const end = isCurrent ? endByOthers(job?.end ?? event) : null;
    if (end !== null) ends.set(jobId, end);
  }
  return { ends, position: read.map((one) => one.position).join(' ') };
}

/** The jobs that a worker will take or has: they have not ended, and are where workers find them. */
function liveJobs(connection: RedisQueueConnection, jobs: ReadonlyMap<string, StoredJob>): Promise<Set<string>> {
  return findableJobs(
    connection,
    [...jobs].flatMap(([id, { ended }]) => (ended === null ? [id] : [])),
  );
}

async function readShard(shard: RedisShard, position: string | null) {
  // The position of an event is the milliseconds of its time, and a counter.
  const from = position === null ? '-' : String(Math.max(0, Number.parseInt(position, 10) - REREAD_MS));
  const read = await lastEvents(shard, ['completed', 'failed'], from);
  const others = [...read.last].filter(([, { return_value }]) => return_value !== OUR_RESULT);
  // Without any event, not even the latest one, the queue has begun anew: perhaps with a clock that is behind.
  return { others, position: read.position ?? '0' };
}
