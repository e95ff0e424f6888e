import type { ForeignEnd } from '../../../../application/foreign-end.js';
import type { ForeignEnds, InspectedJob, Queryable } from '../../../../application/job-queue.js';
import { endByOthers, GONE, OUR_RESULT, type JobEndRow } from '../job-ends.js';
import { NOW, RUNS } from './job.sql.js';

/** Ids are assigned before commits, so an event may appear after later ones: this many are read again. */
const REREAD = 1_000;

// Jobs are looked up one by one, by their index: a join of two large tables would read much more.
export const INSPECT = `
  SELECT wanted.id AS job_id, j.* FROM unnest($2::text[]) AS wanted (id)
  CROSS JOIN LATERAL (
    SELECT j.state, j.failed_reason, ${RUNS}
    FROM bullmq.job j WHERE j.queue = $1 AND j.id = wanted.id COLLATE "default" LIMIT 1
  ) j`;

const READ = `
  WITH newest AS (
    SELECT coalesce(max(id), 0) AS position FROM bullmq.event WHERE queue = $1
  ), last AS (
    SELECT DISTINCT ON (data->>'jobId') data->>'jobId' AS job_id, event, data->>'failedReason' AS reason
    FROM bullmq.event
    WHERE queue = $1 AND id > $2::bigint AND event IN ('completed', 'failed')
      AND data->>'returnvalue' IS DISTINCT FROM $3
    ORDER BY data->>'jobId', id DESC
  ), ends AS (
    SELECT last.job_id, last.event AS ended, last.reason AS failed_reason, NULL AS return_value, ${RUNS}
    FROM last LEFT JOIN bullmq.job j ON j.queue = $1 AND j.id = last.job_id
    -- A failed job that is gone may be one of ours that was just removed to be queued again.
    WHERE j.state::text = last.event OR j.id IS NULL AND last.event = 'completed'
  )
  SELECT * FROM newest LEFT JOIN ends ON true`;

// What BullMQ does when it publishes an event; our processes publish almost none.
const TRIM = `
  DELETE FROM bullmq.event
  WHERE queue = $1 AND id <= $2::bigint - coalesce(
      (SELECT value::bigint FROM bullmq.meta WHERE queue = $1 AND field = 'opts.maxLenEvents'), 10000)
    AND (SELECT pg_try_advisory_xact_lock(hashtext('bullmq:evtrim:' || $1)))`;

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

interface JobRow extends Omit<JobEndRow, 'ended' | 'return_value'> {
  readonly job_id: string;
  readonly state: string;
}

interface EventRow extends JobEndRow {
  readonly position: string;
  /** Null in the one row without events. */
  readonly job_id: string | null;
}

export async function inspect(
  database: Queryable,
  queue: string,
  ids: readonly string[],
): Promise<Map<string, InspectedJob>> {
  const rows = await database.query<JobRow>(INSPECT, [queue, ids]);
  return new Map(
    rows.map(({ job_id, state, ...row }) => {
      const ended = state === 'completed' || state === 'failed' ? state : null;
      const foreignEnd = ended === null ? null : endByOthers({ ...row, ended, return_value: null });
      return [job_id, { isLive: ended === null, foreignEnd }];
    }),
  );
}

/** All in one reading: no index leads to the events of a job. */
export async function endsOf(
  database: Queryable,
  queue: string,
  ids: readonly string[],
): Promise<Map<string, ForeignEnd>> {
  const rows = await database.query<EventRow>(LAST_EVENTS, [queue, ids]);
  return byJob(rows.map((row) => ({ ...GONE, ...row })));
}

export async function removeDead(database: Queryable, queue: string, ids: readonly string[]): Promise<void> {
  await database.query(REMOVE_ENDED, [queue, ids]);
}

export async function readEnds(database: Queryable, queue: string, position: string | null): Promise<ForeignEnds> {
  const from = position === null ? '0' : String(BigInt(position) - BigInt(REREAD));
  const rows = await database.query<EventRow>(READ, [queue, from, OUR_RESULT]);
  const newest = rows[0]?.position ?? '0';
  if (newest !== position) await database.query(TRIM, [queue, newest]);
  return { ends: byJob(rows), position: newest };
}

function byJob(rows: readonly EventRow[]): Map<string, ForeignEnd> {
  const ends = new Map<string, ForeignEnd>();
  for (const row of rows) {
    const end = row.job_id === null ? null : endByOthers(row);
    if (row.job_id !== null && end !== null) ends.set(row.job_id, end);
  }
  return ends;
}
