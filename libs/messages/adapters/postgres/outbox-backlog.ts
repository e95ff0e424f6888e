import type { Database } from '#platform/database/database.js';

/**
 * What is due in the outbox, or was refused by the queue and is postponed: counted so far that no backlog makes it
 * costly. What is for later is no backlog.
 */
export async function outboxBacklog(database: Database) {
  const [row] = await database.query<{ entries: number; messages: number; oldest: number }>(
    `SELECT count(*)::int AS entries, coalesce(sum(cardinality(message_ids)), 0)::int AS messages,
            coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(since))), 0)::float8 AS oldest
     FROM (
       SELECT message_ids, CASE WHEN for_sweeper THEN due_at ELSE created_at END AS since FROM sluice.outbox
       WHERE due_at <= now() + interval '1 minute' AND (due_at <= now() OR NOT for_sweeper)
       ORDER BY due_at LIMIT 10000
     ) entries`,
  );
  return row ?? { entries: 0, messages: 0, oldest: 0 };
}
