import type pg from 'pg';
import { NO_TURN } from '../../../../application/fair-scheduler.js';

const NEXT_PRIORITY = `
  SELECT priority FROM bullmq.job WHERE queue = $1 AND state = 'waiting' AND priority < ${NO_TURN}
  ORDER BY priority, seq LIMIT 1`;

const FIRST = `
  SELECT id FROM bullmq.job WHERE queue = $1 AND state = 'waiting'
    AND NOT EXISTS (SELECT FROM bullmq.meta WHERE queue = $1 AND field = 'paused' AND value = '1')
  ORDER BY priority, seq LIMIT 1`;

/** The priority of the first waiting job that has a turn; null when there is none. */
export async function nextPriority(pool: pg.Pool, queue: string): Promise<number | null> {
  const { rows } = await pool.query<{ priority: number }>(NEXT_PRIORITY, [queue]);
  return rows[0]?.priority ?? null;
}

/** The id of the job that a worker takes next; null when none waits or the queue is paused. */
export async function firstWaitingJob(pool: pg.Pool, queue: string): Promise<string | null> {
  const { rows } = await pool.query<{ id: string }>(FIRST, [queue]);
  return rows[0]?.id ?? null;
}
