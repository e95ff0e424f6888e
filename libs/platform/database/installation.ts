import type { Database } from './database.js';

const SHARE = `
  INSERT INTO sluice.installation AS stored (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE
    SET value = CASE WHEN stored.value = ANY ($3::text[]) THEN excluded.value ELSE stored.value END
  RETURNING value`;

/**
 * Stores a value that all processes on a database must have in common, unless one is stored already.
 * @param replaced values that this one may replace
 * @returns what is stored now
 */
export async function sharedValue(
  database: Database,
  name: string,
  value: string,
  replaced: readonly string[] = [],
): Promise<string> {
  const [row] = await database.query<{ value: string }>(SHARE, [name, value, replaced]);
  return row?.value ?? value;
}
