import type { Database } from '#platform/database/database.js';
import {
  QueueMaintenance,
  type EndedElsewhere,
  type InspectedJob,
  type JobOwner,
} from '../../../application/queue-maintenance.js';
import { WORKER_NAME } from '../delivery-job.js';
import { endByOthers } from '../job-ends.js';
import { WHICH_ARE_LEFT } from '../left-jobs.sql.js';
import { repairKeys } from './key-repairs.js';
import { findableJobs, placedJobs, removeTraces } from './job-places.js';
import type { RedisQueueConnection } from './redis-queue-connection.js';
import type { RedisShard } from './redis-shard.js';
import { jobsOfEvents, lastEvents, MAX_EVENTS, removeEvents } from './stored-events.js';
import { storedJobs, type StoredJob } from './stored-jobs.js';

/** Jobs of a state that one call removes. Redis does nothing else meanwhile. */
const REMOVED_AT_ONCE = 1_000;

/** Of the delayed jobs, the latest ones: a wrong clock puts jobs there, and the cost does not grow with the others. */
const CHECKED = 1_000;

/** Differences of clocks that are not repaired, in milliseconds. */
const TOLERANCE_MS = 5_000;

/** The score of a delayed job is the milliseconds of its time times this, plus a counter. */
const MILLISECOND = 4_096;

export class RedisQueueMaintenance extends QueueMaintenance {
  constructor(
    private readonly database: Database,
    private readonly connection: RedisQueueConnection,
    /** How long our workers lock a job, in milliseconds. */
    private readonly worker: { readonly lockMs: number },
  ) {
    super();
  }

  /** A job that is left in a queue on PostgreSQL is live: it is taken over, or a worker has it. */
  async inspect(messages: readonly JobOwner[]): Promise<Map<string, InspectedJob>> {
    const ids = messages.map(({ jobId }) => jobId);
    const jobs = await storedJobs(this.connection, ids);
    const live = await this.liveJobs(ids, jobs);
    const inspected = new Map<string, InspectedJob>();
    const notLive: string[] = [];
    for (const message of messages) {
      const job = jobs.get(message.jobId);
      const isLive = live.has(message.jobId);
      if (!isLive) notLive.push(message.jobId);
      if (job === undefined) continue;
      const endedElsewhere = job.ended === null ? null : endByOthers(job.end(message));
      inspected.set(message.jobId, { isLive, endedElsewhere });
    }
    if (notLive.length === 0) return inspected;
    const left = await this.database.query<{ id: string }>(WHICH_ARE_LEFT, [this.connection.queueName, notLive]);
    for (const { id } of left) inspected.set(id, { isLive: true, endedElsewhere: null });
    return inspected;
  }

  /** All in one reading of all shards: no index leads to the events of a job. */
  async endsOfRemoved(jobIds: readonly string[]): Promise<Map<string, EndedElsewhere>> {
    const ends = new Map<string, EndedElsewhere>();
    if (jobIds.length === 0) return ends;
    const wanted = new Set(jobIds);
    for (const shard of this.connection.shards) {
      const { last } = await lastEvents(shard, ['added', 'completed', 'failed'], '-');
      for (const [jobId, event] of last) if (wanted.has(jobId)) ends.set(jobId, endByOthers(event));
    }
    return ends;
  }

  async removeDead(jobIds: readonly string[]): Promise<void> {
    const live = await this.liveJobs(jobIds, await storedJobs(this.connection, jobIds));
    const dead = jobIds.filter((id) => !live.has(id));
    for (const [shard, ids] of this.connection.byShard(dead)) {
      const events = shard.key('events');
      // The event keeps the end of the removed job from being taken for that of a new one.
      await shard.ask((pipeline) =>
        ids.reduce(
          (all, id) => all.xadd(events, 'MAXLEN', '~', MAX_EVENTS, '*', 'event', 'added', 'jobId', id),
          pipeline,
        ),
      );
      await removeTraces(shard, ids);
    }
  }

  /** The jobs that a worker will take or has: they have not ended, and are where workers find them. */
  private liveJobs(ids: readonly string[], jobs: ReadonlyMap<string, StoredJob>): Promise<Set<string>> {
    return findableJobs(
      this.connection,
      ids.filter((id) => jobs.get(id)?.ended === null),
    );
  }

  async remove(jobIds: readonly string[]): Promise<number> {
    let left = 0;
    for (const [shard, ids] of this.connection.byShard(jobIds)) {
      const locks = await shard.read<number>((pipeline) =>
        ids.reduce((all, id) => all.exists(`${shard.key(id)}:lock`), pipeline),
      );
      const free = ids.filter((_id, index) => locks[index] !== 1);
      left += ids.length - free.length;
      if (free.length > 0) await removeTraces(shard, free);
    }
    return left;
  }

  async *mentionedJobs(): AsyncGenerator<readonly string[]> {
    for (const shard of this.connection.shards) {
      yield* placedJobs(shard);
      yield* jobsOfEvents(shard);
    }
  }

  async removeEvents(jobIds: readonly string[]): Promise<void> {
    const wanted = new Set(jobIds);
    for (const shard of this.connection.byShard(jobIds).keys()) await removeEvents(shard, wanted);
  }

  async removeOldJobs(olderThanMs: number): Promise<boolean> {
    const states = ['completed', 'failed'] as const;
    const removed = await Promise.all(
      this.connection.shards.flatMap(({ queue }) =>
        states.map((state) => queue.clean(olderThanMs, REMOVED_AT_ONCE, state)),
      ),
    );
    return removed.some(({ length }) => length >= REMOVED_AT_ONCE);
  }

  /** Of timestamps only delays: locks, checks for stalled jobs and windows of the rate limit expire by the clock of Redis. */
  async repairFutureTimestamps(): Promise<void> {
    await Promise.all(
      this.connection.shards.map(async (shard) => {
        await repairKeys(shard, this.worker.lockMs);
        await repairDelays(shard);
      }),
    );
  }
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
