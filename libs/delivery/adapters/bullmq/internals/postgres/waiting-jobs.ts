import type pg from 'pg';
import { FIRST_TURN, NO_TURN, type Waiting } from '../../../../application/fair-scheduler.js';
import type { QueueView } from '../../queue-connection.js';

const WAITING = `FROM bullmq.job WHERE queue = $1 AND state = 'waiting'`;

const EXPRESS = `EXISTS (SELECT ${WAITING} AND priority < ${FIRST_TURN})`;

/** Places beyond this many are not looked at. */
const MAX_PLACES = 2_000;

const VIEW = `
  SELECT ${EXPRESS} AS express,
         (SELECT priority ${WAITING} AND priority >= ${FIRST_TURN} AND priority < ${NO_TURN}
          ORDER BY priority, seq LIMIT 1) AS turn,
         (SELECT coalesce(json_object_agg(account_id, places), '{}') FROM (
            SELECT data->>'accountId' AS account_id, count(*) AS places FROM (
              SELECT data FROM bullmq.job WHERE queue = $1 AND state = 'active' AND processed_at_ms <= $2
              LIMIT ${MAX_PLACES}
            ) active GROUP BY 1
          ) held WHERE account_id IS NOT NULL) AS held`;

const FIRST = `
  SELECT id FROM bullmq.job WHERE queue = $1 AND state = 'waiting'
    AND NOT EXISTS (SELECT FROM bullmq.meta WHERE queue = $1 AND field = 'paused' AND value = '1')
  ORDER BY priority, seq LIMIT 1`;

/** @param heldMs only places that are held at least this long count */
export async function view(pool: pg.Pool, queue: string, heldMs: number): Promise<QueueView> {
  const { rows } = await pool.query<Waiting & { held: Record<string, number> }>({
    name: 'view-queue',
    text: VIEW,
    values: [queue, Date.now() - heldMs],
  });
  const { express = false, turn = null, held = {} } = rows[0] ?? {};
  return { express, turn, held: new Map(Object.entries(held)) };
}

/** Whether a job of the express turn waits. */
export async function hasExpress(pool: pg.Pool, queue: string): Promise<boolean> {
  const { rows } = await pool.query<{ express: boolean }>(`SELECT ${EXPRESS} AS express`, [queue]);
  return rows[0]?.express ?? false;
}

/** The id of the job that a worker takes next; null when none waits or the queue is paused. */
export async function firstWaitingJob(pool: pg.Pool, queue: string): Promise<string | null> {
  const { rows } = await pool.query<{ id: string }>(FIRST, [queue]);
  return rows[0]?.id ?? null;
}
