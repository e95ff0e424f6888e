import type { Database } from '#platform/database/database.js';

/** The strays found by the present walk through all open messages, or by the one before if those were more. */
export async function reconcilerStatus(database: Database) {
  const [row] = await database.query<{ strays: number; age: number }>(
    `SELECT greatest(strays, strays_before) AS strays,
            greatest(0, extract(epoch FROM clock_timestamp() - began_at))::float8 AS age
     FROM sluice.reconciler`,
  );
  return row ?? { strays: 0, age: Infinity };
}
