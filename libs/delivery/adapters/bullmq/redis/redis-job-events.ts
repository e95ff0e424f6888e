import type { Database } from '#platform/database/database.js';
import { JobEvents, type EndedJobs } from '../../../application/job-events.js';
import type { JobOwner } from '../../../application/queue-maintenance.js';
import { endByOthers, GONE, OUR_RESULT } from '../job-ends.js';
import { JOB_ID, UNCLAIMED } from '../../open-messages.sql.js';
import type { RedisQueueConnection } from './redis-queue-connection.js';
import type { RedisShard } from './redis-shard.js';
import { lastEvents } from './stored-events.js';
import { storedJobs } from './stored-jobs.js';

/** A message may still be claimed when its job ends: events of this many milliseconds before are read again. */
const REREAD_MS = 1_000;

const FIND_OPEN = `
  SELECT m.id, m.retries, m.crashes, m.status, ended.job_id AS "jobId"
  FROM unnest($1::text[]) AS ended (job_id)
  JOIN sluice.messages m ON m.id = split_part(ended.job_id, '.', 1) AND ended.job_id = ${JOB_ID}
  WHERE ${UNCLAIMED}`;

export class RedisJobEvents extends JobEvents {
  constructor(
    private readonly database: Database,
    private readonly connection: RedisQueueConnection,
  ) {
    super();
  }

  async read(position: string | null): Promise<EndedJobs> {
    const positions = position?.split(' ') ?? [];
    const read = await Promise.all(
      this.connection.shards.map((shard, index) => this.readShard(shard, positions[index] ?? null)),
    );
    const newest = read.map((one) => one.position).join(' ');
    const last = new Map(read.flatMap((one) => one.others));
    if (last.size === 0) return { ends: [], position: newest };
    const rows = await this.database.query<JobOwner>(FIND_OPEN, [[...last.keys()]]);
    const jobs = await storedJobs(
      this.connection,
      rows.map(({ jobId }) => jobId),
    );
    const ends = rows.flatMap((row) => {
      const { id, retries, jobId } = row;
      const job = jobs.get(jobId);
      // A failed job that is gone may be one of ours that was just removed to be queued again.
      const event = last.get(jobId) ?? GONE;
      const isCurrent = event.ended === (job === undefined ? 'completed' : job.ended);
      const end = isCurrent ? endByOthers(job?.end(row) ?? event) : null;
      return end === null ? [] : [{ id, retries, ...end }];
    });
    return { ends, position: newest };
  }

  private async readShard(shard: RedisShard, position: string | null) {
    // The position of an event is the milliseconds of its time, and a counter.
    const from = position === null ? '-' : String(Math.max(0, Number.parseInt(position, 10) - REREAD_MS));
    const read = await lastEvents(shard, ['completed', 'failed'], from);
    const others = [...read.last].filter(([, { return_value }]) => return_value !== OUR_RESULT);
    return { others, position: read.position ?? position ?? '0' };
  }
}
