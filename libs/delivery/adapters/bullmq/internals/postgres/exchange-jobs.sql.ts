/*
 * What BullMQ's `move_to_completed_fetch` does for one job, for many: removes jobs that were completed, moves delayed
 * jobs that are due to the waiting ones, and starts a job in each free slot. Jobs and settings that need more (parents,
 * deduplication, a paused queue, limits of the queue) are left to BullMQ's function. It publishes no events: Sluice does
 * not follow its own workers, and events would add a fifth to the cost.
 *
 * $1 queue; of each slot: $2 id of the job that it completed, $3 lock token, $4 whether it takes a job;
 * $5 milliseconds since 1970; $6 milliseconds until a lock expires; $7 name of the worker; $8 the last priority of the
 * jobs that are taken.
 * Returns a row for each slot, with its next job as BullMQ's `JobJson`.
 *
 * Its plan is kept, and must not depend on how many jobs there were when it was made. Therefore jobs are found one by
 * one by their id, or in the order of an index, and then changed by their position, instead of by a join.
 *
 * Locked rows are skipped, so that it waits for nobody: the check for stalled jobs and the renewal of locks also lock
 * many rows, in an order of their own.
 */
export const EXCHANGE_JOBS = `
  WITH settings AS MATERIALIZED (
    SELECT count(*) = 0 AS plain FROM bullmq.meta
    WHERE queue = $1 AND (field IN ('concurrency', 'max') OR field = 'paused' AND value = '1')
  ), slots AS MATERIALIZED (
    SELECT * FROM unnest($2::text[], $3::text[], $4::boolean[]) WITH ORDINALITY AS t (job_id, token, takes_next, slot)
  ), ending AS MATERIALIZED (
    SELECT j.tid FROM slots p CROSS JOIN LATERAL (
      SELECT ctid AS tid FROM bullmq.job
      WHERE queue = $1 AND id = p.job_id AND state::text = 'active' AND lock_token = p.token
        AND parent_id IS NULL AND dedup_id IS NULL AND pending_deps = 0
      LIMIT 1 FOR UPDATE SKIP LOCKED
    ) j
  ), ended AS (
    DELETE FROM bullmq.job WHERE ctid = ANY (ARRAY(SELECT tid FROM ending)) RETURNING id
  ), due AS MATERIALIZED (
    SELECT ctid AS tid FROM bullmq.job WHERE queue = $1 AND state = 'delayed' AND process_at_ms <= $5::bigint
    ORDER BY process_at_ms LIMIT 1000 FOR UPDATE SKIP LOCKED
  ), promoted AS (
    UPDATE bullmq.job SET state = 'waiting', delay_ms = 0 WHERE ctid = ANY (ARRAY(SELECT tid FROM due))
  ), free AS MATERIALIZED (
    SELECT slot, token, row_number() OVER (ORDER BY slot) AS nth FROM slots
    WHERE takes_next AND (job_id IS NULL OR job_id IN (SELECT id FROM ended))
  ), next AS MATERIALIZED (
    SELECT ctid AS tid, id, priority, seq FROM bullmq.job
    WHERE queue = $1 AND state = 'waiting' AND priority <= $8 AND (SELECT plain FROM settings)
    ORDER BY priority, seq LIMIT (SELECT count(*) FROM free) FOR UPDATE SKIP LOCKED
  ), taken AS MATERIALIZED (
    SELECT n.tid, n.id, free.slot, free.token
    FROM (SELECT *, row_number() OVER (ORDER BY priority, seq) AS nth FROM next) n JOIN free USING (nth)
  ), started AS (
    UPDATE bullmq.job j
    SET state = 'active', lock_token = (SELECT token FROM taken WHERE taken.id = j.id),
        locked_until_ms = $5::bigint + $6::bigint, processed_at_ms = $5::bigint, processed_by = $7,
        attempts_started = attempts_started + 1
    WHERE ctid = ANY (ARRAY(SELECT tid FROM taken))
    RETURNING *
  )
  SELECT plain, ended.id IS NOT NULL AS "hasEnded",
         (SELECT process_at_ms FROM bullmq.job WHERE queue = $1 AND state = 'delayed'
          ORDER BY process_at_ms LIMIT 1)::float8 AS "nextDue",
         s.id, s.name, s.data::text AS data, s.opts, s.priority, s.delay_ms::float8 AS delay,
         s.added_at_ms::float8 AS timestamp, s.processed_at_ms::float8 AS "processedOn", s.processed_by AS "processedBy",
         s.attempts_made AS "attemptsMade", s.attempts_started AS "attemptsStarted",
         s.stalled_count AS "stalledCounter", coalesce(s.progress, '0') AS progress,
         coalesce(s.failed_reason, '') AS "failedReason", s.deferred_failure AS "deferredFailure",
         coalesce(s.stacktrace::text, '[]') AS stacktrace, 'null' AS returnvalue
  FROM settings CROSS JOIN slots p LEFT JOIN ended ON ended.id = p.job_id
  LEFT JOIN (taken JOIN started s USING (id)) ON taken.slot = p.slot
  ORDER BY p.slot`;
