import type { Queryable } from '../../../../application/job-queue.js';

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

/**
 * Jobs of a queue by their state, each counted up to a limit (BullMQ's own counts read every job), and how long the
 * next job has waited.
 */
export async function queueDepth(database: Queryable, queueName: string) {
  const [row] = await database.query<Record<string, number>>(READ_DEPTH, [queueName]);
  const { oldest = 0, ...jobs } = row ?? {};
  return { jobs, oldest };
}
