import type { Database } from '#platform/database/database.js';

/** What is in the outbox: counted so far that no backlog makes it costly. */
export async function outboxBacklog(database: Database) {
  const [row] = await database.query<{ entries: number; messages: number; oldest: number }>(
    `SELECT count(*)::int AS entries, coalesce(sum(cardinality(message_ids)), 0)::int AS messages,
            (SELECT coalesce(max(greatest(0, extract(epoch FROM clock_timestamp() - created_at))), 0)::float8
             FROM (SELECT created_at FROM sluice.outbox ORDER BY id LIMIT 1) first) AS oldest
     FROM (SELECT message_ids FROM sluice.outbox LIMIT 10000) entries`,
  );
  return row ?? { entries: 0, messages: 0, oldest: 0 };
}
