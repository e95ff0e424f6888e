import type { Database } from '#platform/database/database.js';

/** The strays that the walk through all open messages has found since it last began, or that the one before found. */
export async function reconcilerStatus(database: Database) {
  const [row] = await database.query<{ strays: number; age: number }>(
    `SELECT greatest(strays, strays_before) AS strays,
            greatest(0, extract(epoch FROM clock_timestamp() - began_at))::float8 AS age
     FROM sluice.reconciler`,
  );
  return row ?? { strays: 0, age: Infinity };
}
