import type pg from 'pg';
import { FIRST_TURN, NO_TURN, type FairScheduler } from '../../../../application/fair-scheduler.js';

const AT_ONCE = 1_000;

const DUE = `FROM bullmq.job WHERE queue = $1 AND state = 'waiting' AND priority = ${NO_TURN}`;

// Of several processes, each gets other retries.
const FIND = `SELECT id, data->>'accountId' AS account_id ${DUE} ORDER BY seq LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED`;

const FIND_AHEAD = `
  WITH ahead AS MATERIALIZED (
    SELECT id FROM bullmq.job WHERE queue = $1 AND state = 'waiting' AND priority < ${FIRST_TURN}
    ORDER BY priority, seq LIMIT ${AT_ONCE}
  )
  SELECT j.id, j.data->>'accountId' AS account_id FROM ahead JOIN bullmq.job j USING (id)
  WHERE j.queue = $1 AND j.state = 'waiting' AND j.priority < ${FIRST_TURN} AND j.data->>'accountId' = ANY ($2)
  ORDER BY j.priority, j.seq FOR UPDATE OF j SKIP LOCKED`;

// Workers skip locked jobs, and may have found none but these: the notification wakes them.
const UPDATE = `
  WITH given AS (
    UPDATE bullmq.job j SET priority = t.turn
    FROM unnest($2::text[], $3::int[]) AS t (id, turn) WHERE j.queue = $1 AND j.id = t.id
  )
  SELECT pg_notify('bullmq_jobs', $1)`;

/** Gives some of the retries that have become due a turn each, as if their messages were sent now. */
export async function giveTurns(
  pool: pg.Pool,
  queue: string,
  scheduler: FairScheduler,
  refresh: () => Promise<void>,
): Promise<void> {
  // Mostly none is due: one statement instead of a transaction.
  if ((await pool.query(`SELECT ${DUE} LIMIT 1`, [queue])).rows.length === 0) return;
  await refresh();
  await reassign(pool, queue, FIND, [queue], scheduler);
}

/** Gives some jobs of these accounts that wait in the express turn another one each. */
export function moveBehind(
  pool: pg.Pool,
  queue: string,
  accountIds: readonly string[],
  scheduler: FairScheduler,
): Promise<void> {
  return reassign(pool, queue, FIND_AHEAD, [queue, accountIds], scheduler);
}

async function reassign(
  pool: pg.Pool,
  queue: string,
  find: string,
  values: unknown[],
  scheduler: FairScheduler,
): Promise<void> {
  const client = await pool.connect();
  let failed = true;
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<{ id: string; account_id: string }>(find, values);
    const { turns, added } = scheduler.assign(rows.map(({ account_id }) => account_id));
    if (rows.length > 0) await client.query(UPDATE, [queue, rows.map(({ id }) => id), turns]);
    await client.query('COMMIT');
    added();
    failed = false;
  } finally {
    // Closing the connection rolls back.
    client.release(failed);
  }
}
