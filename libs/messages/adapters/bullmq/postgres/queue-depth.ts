import type { Queue } from 'bullmq';
import type pg from 'pg';
import type { Database } from '#platform/database/database.js';
import { NO_TURN } from '../../../application/fair-scheduler.js';

/** The queue, and connections whose search path is BullMQ's schema. */
export interface PostgresQueue {
  readonly pool: pg.Pool;
  readonly queue: Queue;
}

/** Each has an index of its own in BullMQ's schema. */
const STATES = ['waiting', 'active', 'delayed', 'failed', 'completed'] as const;
const MAX_COUNT = 100_000;

// A job that was tried before has waited only since then.
const READ_DEPTH = `
  SELECT ${STATES.map(
    (state) => `
    (SELECT count(*) FROM (
       SELECT FROM bullmq.job WHERE queue = $1 AND state = '${state}' LIMIT ${MAX_COUNT}
     ) jobs)::int AS ${state}`,
  ).join(',')},
    (SELECT coalesce(max(greatest(0, extract(epoch FROM clock_timestamp()) - since / 1000.0)), 0)::float8 FROM (
       SELECT greatest(added_at_ms, processed_at_ms) AS since FROM bullmq.job
       WHERE queue = $1 AND state = 'waiting' ORDER BY priority, seq LIMIT 1
     ) first) AS oldest`;

/** The priority of the first waiting job that has a turn; null when there is none. */
export async function nextPriority({ pool, queue }: PostgresQueue): Promise<number | null> {
  const { rows } = await pool.query<{ priority: number }>(
    `SELECT priority FROM bullmq.job WHERE queue = $1 AND state = 'waiting' AND priority < ${NO_TURN}
     ORDER BY priority, seq LIMIT 1`,
    [queue.name],
  );
  return rows[0]?.priority ?? null;
}

/** The id of the job that a worker takes next; null when none waits or the queue is paused. */
export async function firstWaitingJob({ pool, queue }: PostgresQueue): Promise<string | null> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM bullmq.job WHERE queue = $1 AND state = 'waiting'
       AND NOT EXISTS (SELECT FROM bullmq.meta WHERE queue = $1 AND field = 'paused' AND value = '1')
     ORDER BY priority, seq LIMIT 1`,
    [queue.name],
  );
  return rows[0]?.id ?? null;
}

/**
 * Jobs of a queue by their state, each counted up to a limit (BullMQ's own counts read every job), and how long the
 * next job has waited.
 */
export async function queueDepth(database: Database, queueName: string) {
  const [row] = await database.query<Record<string, number>>(READ_DEPTH, [queueName]);
  const { oldest = 0, ...jobs } = row ?? {};
  return { jobs, oldest };
}
