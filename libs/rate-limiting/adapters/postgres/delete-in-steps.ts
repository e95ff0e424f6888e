import type { Database } from '#platform/database/database.js';

/** Rows that one statement reads. */
const STEP = 1_000;

/** The time in milliseconds since 1970, in SQL. */
export const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * Deletes the rows of a table that match a condition, in short steps along its key. Rows that are locked are skipped.
 */
export async function deleteInSteps(database: Database, table: string, key: string, condition: string): Promise<void> {
  const step = `
    WITH step AS (
      SELECT max(key) AS last FROM (SELECT ${key} AS key FROM ${table} WHERE ${key} > $1 ORDER BY ${key} LIMIT $2) keys
    ), deleted AS (
      DELETE FROM ${table} WHERE ${key} IN (
        SELECT ${key} FROM ${table}, step WHERE ${key} > $1 AND ${key} <= step.last AND ${condition}
        FOR UPDATE OF ${table.replace(/^.*\./, '')} SKIP LOCKED
      )
    )
    SELECT last FROM step`;
  let last: string | null = '';
  while (last !== null) {
    const rows: { last: string | null }[] = await database.query(step, [last, STEP]);
    last = rows[0]?.last ?? null;
  }
}
