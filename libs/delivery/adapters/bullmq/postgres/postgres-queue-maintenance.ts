import type { Database } from '#platform/database/database.js';
import {
  QueueMaintenance,
  type EndedElsewhere,
  type InspectedJob,
  type JobOwner,
} from '../../../application/queue-maintenance.js';
import { WORKER_NAME } from '../delivery-job.js';
import { attemptsByOthers, endByOthers, GONE, type JobEndRow } from '../job-ends.js';
import type { PostgresQueueConnection } from './postgres-queue-connection.js';
import { NOW, RUN } from './job.sql.js';

// Jobs are looked up one by one, by their index: a join of two large tables would read much more.
export const INSPECT = `
  SELECT wanted.id AS job_id, j.* FROM unnest($2::text[]) AS wanted (id)
  CROSS JOIN LATERAL (
    SELECT j.state, j.attempts_made, j.stalled_count, j.processed_by, j.failed_reason, ${RUN}
    FROM bullmq.job j WHERE j.queue = $1 AND j.id = wanted.id COLLATE "default" LIMIT 1
  ) j`;

/** Jobs, or events, of one part. */
const LISTED_AT_ONCE = 2_000;

const LAST_EVENTS = `
  SELECT DISTINCT ON (data->>'jobId') data->>'jobId' AS job_id, event AS ended, data->>'failedReason' AS failed_reason,
         data->>'returnvalue' AS return_value
  FROM bullmq.event
  WHERE queue = $1 AND event IN ('added', 'completed', 'failed') AND data->>'jobId' = ANY ($2)
  ORDER BY data->>'jobId', id DESC`;

// The event keeps the end of the removed job from being taken for that of a new one.
const REMOVE_ENDED = `
  WITH removed AS (
    DELETE FROM bullmq.job WHERE queue = $1 AND id = ANY ($2) AND state IN ('completed', 'failed') RETURNING id
  )
  INSERT INTO bullmq.event (queue, event, data, created_at_ms)
  SELECT $1, 'added', jsonb_build_object('jobId', id), ${NOW} FROM removed`;

// Locked rows are skipped: the check for stalled jobs locks many, in an order of its own.
const REMOVE = `
  DELETE FROM bullmq.job WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM bullmq.job
    WHERE queue = $1 AND id = ANY ($2) AND (state <> 'active' OR locked_until_ms IS NULL OR locked_until_ms <= ${NOW})
    FOR UPDATE SKIP LOCKED))`;

const COUNT = 'SELECT count(*)::int AS count FROM bullmq.job WHERE queue = $1 AND id = ANY ($2)';

const LIST = `SELECT id FROM bullmq.job WHERE queue = $1 AND id > $2 ORDER BY id LIMIT ${LISTED_AT_ONCE}`;

const LIST_OF_EVENTS = `
  SELECT id::text, data->>'jobId' AS job_id FROM bullmq.event
  WHERE queue = $1 AND id > $2::bigint ORDER BY id LIMIT ${LISTED_AT_ONCE}`;

const REMOVE_EVENTS = `DELETE FROM bullmq.event WHERE queue = $1 AND data->>'jobId' = ANY ($2)`;

interface JobRow extends Pick<JobEndRow, 'processed_by' | 'failed_reason' | 'processed_at' | 'finished_at'> {
  readonly job_id: string;
  readonly state: string;
  readonly attempts_made: number;
  readonly stalled_count: number;
}

type LastEvent = Pick<JobEndRow, 'ended' | 'failed_reason' | 'return_value'> & { readonly job_id: string };

/** Jobs of a state that one call removes. */
const REMOVED_AT_ONCE = 10_000;

const REPAIR_STALLED_CHECK = `
  UPDATE bullmq.meta SET value = ${NOW}::text
  WHERE queue = $1 AND field = 'stalled-check' AND value::bigint > ${NOW} + 5000`;

// BullMQ never takes over a job whose lock has no end.
const REPAIR_LOCKS = `
  UPDATE bullmq.job SET locked_until_ms = ${NOW} + $2
  WHERE queue = $1 AND state = 'active'
    AND (locked_until_ms IS NULL OR processed_by = $3 AND locked_until_ms > ${NOW} + $2 + 5000)`;

// Only the latest ones: a wrong clock puts jobs there, and the cost does not grow with the others.
const REPAIR_DELAYS = `
  UPDATE bullmq.job SET process_at_ms = ${NOW} + delay_ms
  WHERE queue = $1 AND state = 'delayed' AND id IN (
    SELECT id FROM (
      SELECT * FROM bullmq.job WHERE queue = $1 AND state = 'delayed' ORDER BY process_at_ms DESC LIMIT 10000
    ) last
    WHERE processed_by = $2 AND process_at_ms > ${NOW} + delay_ms + 5000
  )`;

// BullMQ does not store the length of a window. Sluice's workers use a second. Other programs may set up to a minute,
// any length for all workers (`duration`), or a certain end (9007199254740991 points).
const REPAIR_RATE_LIMIT = `
  UPDATE bullmq.rate_limit SET expire_at_ms = ${NOW}
  WHERE queue = $1 AND points < 9007199254740991 AND expire_at_ms > ${NOW} + 5000 + greatest(60000, (
    SELECT value::bigint FROM bullmq.meta WHERE queue = $1 AND field = 'duration'
  ))`;

export class PostgresQueueMaintenance extends QueueMaintenance {
  constructor(
    private readonly database: Pick<Database, 'query'>,
    private readonly connection: { readonly queue: Pick<PostgresQueueConnection['queue'], 'name'> },
    /** How long our workers lock a job, in milliseconds. */
    private readonly worker: { readonly lockMs: number },
  ) {
    super();
  }

  async inspect(messages: readonly JobOwner[]): Promise<Map<string, InspectedJob>> {
    const owners = new Map(messages.map((message) => [message.jobId, message]));
    const rows = await this.database.query<JobRow>(INSPECT, [this.connection.queue.name, [...owners.keys()]]);
    return new Map(rows.map((row) => [row.job_id, toInspected(row, owners.get(row.job_id))]));
  }

  /** All in one reading: no index leads to the events of a job. */
  async endsOfRemoved(jobIds: readonly string[]): Promise<Map<string, EndedElsewhere>> {
    if (jobIds.length === 0) return new Map();
    const events = await this.database.query<LastEvent>(LAST_EVENTS, [this.connection.queue.name, jobIds]);
    return new Map(events.map(({ job_id, ...event }) => [job_id, endByOthers({ ...GONE, ...event })]));
  }

  async removeDead(jobIds: readonly string[]): Promise<void> {
    await this.database.query(REMOVE_ENDED, [this.connection.queue.name, jobIds]);
  }

  async remove(jobIds: readonly string[]): Promise<number> {
    const values = [this.connection.queue.name, jobIds];
    await this.database.query(REMOVE, values);
    const [left] = await this.database.query<{ count: number }>(COUNT, values);
    return left?.count ?? 0;
  }

  async *mentionedJobs(): AsyncGenerator<readonly string[]> {
    const { name } = this.connection.queue;
    // Others are added meanwhile: a part that is not full is the last one.
    for (let last: string | undefined = ''; last !== undefined;) {
      const jobs: { id: string }[] = await this.database.query(LIST, [name, last]);
      yield jobs.map(({ id }) => id);
      last = jobs[LISTED_AT_ONCE - 1]?.id;
    }
    for (let last: string | undefined = '0'; last !== undefined;) {
      const events: { id: string; job_id: string | null }[] = await this.database.query(LIST_OF_EVENTS, [name, last]);
      yield [...new Set(events.flatMap(({ job_id }) => job_id ?? []))];
      last = events[LISTED_AT_ONCE - 1]?.id;
    }
  }

  async removeEvents(jobIds: readonly string[]): Promise<void> {
    await this.database.query(REMOVE_EVENTS, [this.connection.queue.name, jobIds]);
  }

  async removeOldJobs(olderThanMs: number): Promise<boolean> {
    // What `Queue.clean` runs, but with the clock of the database.
    const removed = await this.database.query(
      `SELECT bullmq.clean($1, state, ${NOW} - $2::bigint, ${REMOVED_AT_ONCE})
       FROM unnest(ARRAY['completed', 'failed']) AS state`,
      [this.connection.queue.name, olderThanMs],
    );
    return removed.length >= REMOVED_AT_ONCE;
  }

  async repairFutureTimestamps(): Promise<void> {
    const { name } = this.connection.queue;
    await this.database.query(REPAIR_STALLED_CHECK, [name]);
    await this.database.query(REPAIR_LOCKS, [name, this.worker.lockMs, WORKER_NAME]);
    await this.database.query(REPAIR_DELAYS, [name, WORKER_NAME]);
    await this.database.query(REPAIR_RATE_LIMIT, [name]);
    // A worker sleeps until the next job was due by its clock at the time. This wakes it up.
    await this.database.query(`SELECT pg_notify('bullmq_jobs', $1)`, [name]);
  }
}

function toInspected(
  { state, attempts_made, stalled_count, ...row }: JobRow,
  owner: JobOwner | undefined,
): InspectedJob {
  if (state !== 'completed' && state !== 'failed') return { isLive: true, endedElsewhere: null };
  const attempts = attemptsByOthers(attempts_made, stalled_count, owner);
  return { isLive: false, endedElsewhere: endByOthers({ ...row, ended: state, attempts, return_value: null }) };
}
