import type { Database } from '#platform/database/database.js';
import { NOW } from './job.sql.js';

/*
 * The jobs that are left in a queue on PostgreSQL after a change to Redis.
 */

const WHICH_ARE_LEFT = 'SELECT id FROM bullmq.job WHERE queue = $1 AND id = ANY ($2)';

const IS_ANY_LEFT = 'SELECT FROM bullmq.job WHERE queue = $1 LIMIT 1';

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
const TAKE = `
  WITH taken AS MATERIALIZED (${TAKEN.join(' UNION ALL ')})
  DELETE FROM bullmq.job WHERE ctid = ANY (ARRAY(SELECT tid FROM taken)) RETURNING id`;

/** @param requeue called with the ids of the jobs before they are gone */
export async function takeOver(
  database: Pick<Database, 'query' | 'transaction'>,
  queue: string,
  requeue: (jobIds: readonly string[]) => Promise<unknown>,
): Promise<boolean> {
  // Mostly there is nothing to do.
  if ((await database.query(IS_ANY_LEFT, [queue])).length === 0) return false;
  return database.transaction(async (client) => {
    const { rows } = await client.query<{ id: string }>(TAKE, [queue]);
    if (rows.length > 0) await requeue(rows.map(({ id }) => id));
    return rows.length > 0;
  });
}

/** The ids of those of these jobs that are left. */
export async function findLeft(
  database: Pick<Database, 'query'>,
  queue: string,
  jobIds: readonly string[],
): Promise<string[]> {
  if (jobIds.length === 0) return [];
  const rows = await database.query<{ id: string }>(WHICH_ARE_LEFT, [queue, jobIds]);
  return rows.map(({ id }) => id);
}
