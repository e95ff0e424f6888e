import type { Queryable } from '../../../../application/job-queue.js';
import { NOW } from './job.sql.js';

/** Jobs, or events, of one part. */
const LISTED_AT_ONCE = 2_000;

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

export async function purge(database: Queryable, queue: string, jobIds: readonly string[]): Promise<number> {
  await database.query(REMOVE, [queue, jobIds]);
  const [left] = await database.query<{ count: number }>(COUNT, [queue, jobIds]);
  return left?.count ?? 0;
}

export async function* mentionedJobs(database: Queryable, queue: string): AsyncGenerator<readonly string[]> {
  // Others are added meanwhile: a part that is not full is the last one.
  for (let last: string | undefined = ''; last !== undefined;) {
    const jobs: { id: string }[] = await database.query(LIST, [queue, last]);
    yield jobs.map(({ id }) => id);
    last = jobs[LISTED_AT_ONCE - 1]?.id;
  }
  for (let last: string | undefined = '0'; last !== undefined;) {
    const events: { id: string; job_id: string | null }[] = await database.query(LIST_OF_EVENTS, [queue, last]);
    yield [...new Set(events.flatMap(({ job_id }) => job_id ?? []))];
    last = events[LISTED_AT_ONCE - 1]?.id;
  }
}

export async function removeEvents(database: Queryable, queue: string, jobIds: readonly string[]): Promise<void> {
  await database.query(REMOVE_EVENTS, [queue, jobIds]);
}
