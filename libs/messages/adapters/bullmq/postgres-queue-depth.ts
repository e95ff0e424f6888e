import type { Pool } from 'pg';
import type { Database } from '#platform/database/database.js';

/*
 * Beside the census the only file that knows BullMQ's tables: its own counts read every job that it has.
 */

/** Each has an index of its own in BullMQ's schema. */
const STATES = ['waiting', 'active', 'delayed', 'failed', 'completed'] as const;
const COUNTED = 100_000;

// A job that was tried before has not waited since it came.
const DEPTH = `
  SELECT ${STATES.map(
    (state) => `
    (SELECT count(*) FROM (
       SELECT FROM bullmq.job WHERE queue = $1 AND state = '${state}' LIMIT ${COUNTED}
     ) jobs)::int AS ${state}`,
  ).join(',')},
    (SELECT coalesce(max(greatest(0, extract(epoch FROM clock_timestamp()) - since / 1000.0)), 0)::float8 FROM (
       SELECT greatest(added_at_ms, processed_at_ms) AS since FROM bullmq.job
       WHERE queue = $1 AND state = 'waiting' ORDER BY priority, seq LIMIT 1
     ) first) AS oldest`;

/** The priority of the job that a worker takes next; null when none waits. */
export async function nextPriority(pool: Pool, queueName: string): Promise<number | null> {
  const { rows } = await pool.query<{ priority: number }>(
    `SELECT priority FROM bullmq.job WHERE queue = $1 AND state = 'waiting' ORDER BY priority, seq LIMIT 1`,
    [queueName],
  );
  return rows[0]?.priority ?? null;
}

/** Jobs of a queue by their state, each counted as far as that is cheap, and how long the first in line has waited. */
export async function queueDepth(database: Database, queueName: string) {
  const [row] = await database.query<Record<string, number>>(DEPTH, [queueName]);
  const { oldest = 0, ...jobs } = row ?? {};
  return { jobs, oldest };
}
