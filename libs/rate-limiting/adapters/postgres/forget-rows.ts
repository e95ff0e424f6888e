import type { Database } from '#platform/database/database.js';

/** Rows that one statement looks at. */
const AT_ONCE = 1_000;

/** The time in milliseconds since 1970, in SQL. */
export const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * Removes the rows of a table of which a condition holds, in steps along its key, each of which ends soon. A row that
 * somebody is using is left alone.
 */
export async function forgetRows(database: Database, table: string, key: string, lapsed: string): Promise<void> {
  const step = `
    WITH step AS (
      SELECT max(key) AS last FROM (SELECT ${key} AS key FROM ${table} WHERE ${key} > $1 ORDER BY ${key} LIMIT $2) keys
    ), forgotten AS (
      DELETE FROM ${table} WHERE ${key} IN (
        SELECT ${key} FROM ${table}, step WHERE ${key} > $1 AND ${key} <= step.last AND ${lapsed}
        FOR UPDATE OF ${table.replace(/^.*\./, '')} SKIP LOCKED
      )
    )
    SELECT last FROM step`;
  let last: string | null = '';
  while (last !== null) {
    const rows: { last: string | null }[] = await database.query(step, [last, AT_ONCE]);
    last = rows[0]?.last ?? null;
  }
}
