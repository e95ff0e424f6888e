import type { Queryable } from '../../../../application/job-queue.js';
import { WORKER_NAME } from '../../delivery-job.js';
import { NOW } from './job.sql.js';

/** Jobs of a state that one call removes. */
const REMOVED_AT_ONCE = 10_000;

const REPAIR = `
  WITH checks AS (
    UPDATE bullmq.meta SET value = ${NOW}::text
    WHERE queue = $1 AND field = 'stalled-check' AND value::bigint > ${NOW} + 5000 RETURNING 1
  ), locks AS (
    -- BullMQ never takes over a job whose lock has no end.
    UPDATE bullmq.job SET locked_until_ms = ${NOW} + $2
    WHERE queue = $1 AND state = 'active'
      AND (locked_until_ms IS NULL OR processed_by = $3 AND locked_until_ms > ${NOW} + $2 + 5000) RETURNING 1
  ), delays AS (
    -- Only the latest ones: a wrong clock puts jobs there, and the cost does not grow with the others.
    UPDATE bullmq.job SET process_at_ms = ${NOW} + delay_ms
    WHERE queue = $1 AND state = 'delayed' AND id IN (
      SELECT id FROM (
        SELECT * FROM bullmq.job WHERE queue = $1 AND state = 'delayed' ORDER BY process_at_ms DESC LIMIT 10000
      ) last
      WHERE processed_by = $3 AND process_at_ms > ${NOW} + delay_ms + 5000
    ) RETURNING 1
  ), parents AS (
    -- Messages have no children to wait for.
    UPDATE bullmq.job SET state = 'waiting'
    WHERE queue = $1 AND state = 'waiting-children' AND data ? 'accountId' RETURNING 1
  ), limits AS (
    -- BullMQ does not store the length of a window. Sluice's workers use a second. Other programs may set up to a
    -- minute, any length for all workers (duration), or a certain end (9007199254740991 points).
    DELETE FROM bullmq.rate_limit
    WHERE queue = $1 AND points < 9007199254740991 AND expire_at_ms > ${NOW} + 5000 + greatest(60000, (
      SELECT value::bigint FROM bullmq.meta WHERE queue = $1 AND field = 'duration'
    )) RETURNING 1
  )
  -- A worker sleeps until the next job was due by its clock at the time. This wakes it up.
  SELECT pg_notify('bullmq_jobs', $1)
  WHERE EXISTS (SELECT FROM checks UNION ALL SELECT FROM locks UNION ALL SELECT FROM delays UNION ALL
                SELECT FROM parents UNION ALL SELECT FROM limits)`;

export async function removeOldJobs(database: Queryable, queue: string, olderThanMs: number): Promise<boolean> {
  // What `Queue.clean` runs, but with the clock of the database.
  const removed = await database.query(
    `SELECT bullmq.clean($1, state, ${NOW} - $2::bigint, ${REMOVED_AT_ONCE})
     FROM unnest(ARRAY['completed', 'failed']) AS state`,
    [queue, olderThanMs],
  );
  return removed.length >= REMOVED_AT_ONCE;
}

/** @param lockMs how long our workers lock a job, in milliseconds */
export async function repairFutureTimestamps(database: Queryable, queue: string, lockMs: number): Promise<void> {
  await database.query(REPAIR, [queue, lockMs, WORKER_NAME]);
}
