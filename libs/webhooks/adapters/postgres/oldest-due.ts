import { isHalted } from '#messages/adapters/postgres/index.js';
import type { Database } from '#platform/database/database.js';

/** Endpoints that are looked at, so that the cost is bounded. */
const MAX_ENDPOINTS = 10_000;

/**
 * How many seconds the oldest delivery has been due; 0 if there is none. Not of endpoints with a limit of requests, nor of
 * accounts that are paused or suspended: there, deliveries wait because they are told to.
 */
export async function oldestDue(database: Database): Promise<number> {
  const [row] = await database.query<{ oldest: number }>(
    `WITH RECURSIVE pending AS (
       (SELECT endpoint_id, account_id, due_at FROM sluice.endpoint_deliveries WHERE ready AND due_at IS NOT NULL
        ORDER BY endpoint_id, due_at LIMIT 1)
       UNION ALL
       SELECT following.* FROM pending CROSS JOIN LATERAL (
         SELECT endpoint_id, account_id, due_at FROM sluice.endpoint_deliveries
         WHERE ready AND due_at IS NOT NULL AND endpoint_id > pending.endpoint_id ORDER BY endpoint_id, due_at LIMIT 1
       ) following
     )
     SELECT coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(due_at))), 0)::float8 AS oldest
     FROM (SELECT * FROM pending LIMIT ${MAX_ENDPOINTS}) due
     WHERE due_at < 'infinity' AND NOT ${isHalted('account_id')}
       AND coalesce((SELECT rate_limit_per_second FROM sluice.endpoints e WHERE e.id = endpoint_id), 0) = 0`,
  );
  return row?.oldest ?? 0;
}
