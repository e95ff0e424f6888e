/*
 * What BullMQ's `move_to_completed_fetch` does for one job, for many: removes jobs that were completed, moves delayed
 * jobs that are due to the waiting ones, and starts a job in each free place. Jobs and settings that need more (parents,
 * deduplication, a paused queue, limits of the queue) are left to BullMQ's function. It publishes no events: Sluice does
 * not follow its own workers, and events would add a fifth to the cost.
 *
 * $1 queue; of each place: $2 id of the job that it completed, $3 lock token, $4 whether it takes a job;
 * $5 milliseconds since 1970; $6 milliseconds until a lock expires; $7 name of the worker.
 *
 * Locked rows are skipped, so that it waits for nobody: the check for stalled jobs and the renewal of locks also lock
 * many rows, in an order of their own.
 */
export const EXCHANGE_JOBS = `
  WITH settings AS MATERIALIZED (
    SELECT count(*) = 0 AS plain FROM bullmq.meta
    WHERE queue = $1 AND (field IN ('concurrency', 'max') OR field = 'paused' AND value = '1')
  ), places AS MATERIALIZED (
    SELECT * FROM unnest($2::text[], $3::text[], $4::boolean[]) WITH ORDINALITY AS t (job_id, token, takes_next, place)
  ), ending AS MATERIALIZED (
    SELECT p.place, j.id FROM places p JOIN bullmq.job j ON j.queue = $1 AND j.id = p.job_id
    WHERE j.state = 'active' AND j.lock_token = p.token
      AND j.parent_id IS NULL AND j.dedup_id IS NULL AND j.pending_deps = 0
    FOR UPDATE OF j SKIP LOCKED
  ), ended AS (
    DELETE FROM bullmq.job j USING ending WHERE j.queue = $1 AND j.id = ending.id RETURNING ending.place
  ), due AS (
    UPDATE bullmq.job SET state = 'waiting', delay_ms = 0
    WHERE queue = $1 AND state = 'delayed' AND process_at_ms <= $5::bigint
  ), free AS MATERIALIZED (
    SELECT place, token, row_number() OVER (ORDER BY place) AS turn FROM places
    WHERE takes_next AND (job_id IS NULL OR place IN (SELECT place FROM ended))
  ), next AS MATERIALIZED (
    SELECT id, priority, seq FROM bullmq.job
    WHERE queue = $1 AND state = 'waiting' AND (SELECT plain FROM settings)
    ORDER BY priority, seq LIMIT (SELECT count(*) FROM free) FOR UPDATE SKIP LOCKED
  ), started AS (
    UPDATE bullmq.job j
    SET state = 'active', lock_token = free.token, locked_until_ms = $5::bigint + $6::bigint,
        processed_at_ms = $5::bigint, processed_by = $7, attempts_started = attempts_started + 1
    FROM (SELECT id, row_number() OVER (ORDER BY priority, seq) AS turn FROM next) n JOIN free USING (turn)
    WHERE j.queue = $1 AND j.id = n.id
    RETURNING free.place, j.*
  )
  SELECT plain, (SELECT min(process_at_ms) FROM bullmq.job WHERE queue = $1 AND state = 'delayed')::float8 AS next_due,
         place::int, ended.place IS NOT NULL AS has_ended,
         s.id, s.name, s.data::text AS data, s.opts, s.priority, s.delay_ms::float8 AS delay, s.attempts_made,
         s.attempts_started, s.progress, s.failed_reason, s.stacktrace::text AS stacktrace, s.deferred_failure,
         s.stalled_count, s.added_at_ms::float8 AS added_at
  FROM settings LEFT JOIN (ended FULL JOIN started s USING (place)) ON true`;
