import type { Redis } from 'ioredis';

interface Queries {
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** Tables that keep the id of an account that was deleted. */
export const KEPT_AFTER_DELETION: readonly string[] = [];

/** All tables, also partitions, with their columns. */
const COLUMNS = `
  SELECT format('%I.%I', nspname, relname) AS table, array_agg(quote_ident(attname)) AS columns
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
  WHERE nspname IN ('sluice', 'bullmq') AND relkind = 'r' GROUP BY 1`;

/** The tables in which one of these texts is found, in any column, with one of the rows. */
export async function tablesWith(database: Queries, texts: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { table, columns } of await database.sql<{ table: string; columns: string[] }>(COLUMNS)) {
    if (KEPT_AFTER_DELETION.includes(table)) continue;
    // Bytes are shown as hexadecimal digits, and may be those of a text.
    const row = columns.map((column) => `coalesce(${column}::text, '')`).join(` || ' ' || `);
    const [hit] = await database.sql<{ row: string }>(
      `SELECT row FROM (SELECT ${row} AS row FROM ${table}) t
       WHERE EXISTS (SELECT FROM unnest($1::text[]) AS text
                     WHERE strpos(row, text) > 0 OR strpos(row, encode(convert_to(text, 'UTF8'), 'hex')) > 0)
       LIMIT 1`,
      [texts],
    );
    if (hit !== undefined) found[table] = hit.row;
  }
  return found;
}

/** The keys of a Redis in which one of these texts is found, in their name or value. */
export async function keysWith(redis: Redis, texts: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const key of await redis.keys('*')) {
    const value = JSON.stringify([key, await valueOf(redis, key)]);
    if (texts.some((text) => value.includes(JSON.stringify(text).slice(1, -1)))) found[key] = value;
  }
  return found;
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, 0, -1);
    case 'stream':
      return redis.xrange(key, '-', '+');
    // It has expired meanwhile.
    case 'none':
      return null;
    default:
      throw new Error(`The key ${key} has an unknown type.`);
  }
}
