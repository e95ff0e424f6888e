import type { Database } from '#platform/database/database.js';
import { REFUSED_DELAY_MS } from '../../application/outbox.js';

/**
 * Outbox entries that are due, or were refused by the queue and are postponed; not entries of scheduled messages.
 * Counted up to a limit, so that the cost is bounded.
 */
export async function outboxBacklog(database: Database) {
  const [row] = await database.query<{ entries: number; messages: number; oldest: number }>(
    `SELECT count(*)::int AS entries, coalesce(sum(cardinality(message_ids)), 0)::int AS messages,
            coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(since))), 0)::float8 AS oldest
     FROM (
       SELECT message_ids, CASE WHEN for_sweeper THEN due_at ELSE created_at END AS since FROM sluice.outbox
       WHERE due_at <= now() + interval '${REFUSED_DELAY_MS} milliseconds' AND (due_at <= now() OR NOT for_sweeper)
       ORDER BY due_at LIMIT 10000
     ) entries`,
  );
  return row ?? { entries: 0, messages: 0, oldest: 0 };
}
