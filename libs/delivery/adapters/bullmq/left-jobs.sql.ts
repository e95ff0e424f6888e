import { insertEntriesFor, JOB_ID, SHOULD_HAVE_JOB } from '../open-messages.sql.js';
import { NOW } from './postgres/job.sql.js';

/*
 * The jobs that are left in a queue on PostgreSQL after a change to Redis.
 */

/** Those of some jobs that are left there. */
export const WHICH_ARE_LEFT = 'SELECT id FROM bullmq.job WHERE queue = $1 AND id = ANY ($2)';

export const IS_ANY_LEFT = 'SELECT FROM bullmq.job WHERE queue = $1 LIMIT 1';

/** Jobs of a state that one step takes over. */
const AT_ONCE = 1_000;

/** Each by an index, and in the order in which workers would take them. */
const TAKEN = [
  `state = 'waiting' ORDER BY priority, seq`,
  `state = 'delayed' AND process_at_ms <= ${NOW} ORDER BY process_at_ms`,
  `state = 'active' AND coalesce(locked_until_ms, 0) <= ${NOW}`,
  `state IN ('completed', 'failed')`,
].map((jobs) => `(SELECT ctid AS tid FROM bullmq.job WHERE queue = $1 AND ${jobs} LIMIT ${AT_ONCE})`);

// Delayed jobs, which are retries, stay until they are due; so do jobs that a worker still holds.
export const TAKE_OVER = `
  WITH taken AS MATERIALIZED (${TAKEN.join(' UNION ALL ')}
  ), removed AS (
    DELETE FROM bullmq.job WHERE ctid = ANY (ARRAY(SELECT tid FROM taken)) RETURNING id
  ), moved AS MATERIALIZED (
    SELECT array_agg(m.id) AS ids FROM removed
    JOIN sluice.messages m ON m.id = split_part(removed.id, '.', 1) AND removed.id = ${JOB_ID}
    WHERE ${SHOULD_HAVE_JOB}
  ), entries AS (${insertEntriesFor('(SELECT ids FROM moved)::text[]')}
  )
  SELECT count(*)::int AS removed FROM removed`;
