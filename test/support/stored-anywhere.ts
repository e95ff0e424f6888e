import type { Redis } from 'ioredis';

interface Queries {
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** Tables that keep the ids of an account that was deleted, but nothing that it has sent. */
const KEPT_AFTER_DELETION = ['sluice.usage', 'sluice.audit'];

/** Tables that hold nothing of an account, or do so only for a moment or after its deletion. */
const OF_NO_ACCOUNT = [
  ...['sluice.installation', 'sluice.migrations', 'sluice.plans', 'sluice.reconciler', 'sluice.usage_progress'],
  ...['sluice.usage_late', 'sluice.deleted_accounts'],
];

const ID = /^[a-z]+_[0-9a-z]{26}$/;

/** All tables, partitions as the table that they belong to, with their columns. */
const TABLES = `
  SELECT format('%I.%I', nspname, relname) AS table, array_agg(quote_ident(attname)) AS columns
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
  WHERE relkind IN ('r', 'p', 'm') AND NOT relispartition
    AND nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema' GROUP BY 1`;

interface Table {
  readonly table: string;
  readonly columns: readonly string[];
}

/** The tables of Sluice that must hold something of an account before its deletion: a test that fills them can then fail. */
export async function tablesOfAccounts(database: Queries): Promise<string[]> {
  const tables = (await database.sql<Table>(TABLES)).map(({ table }) => table);
  const others = [...KEPT_AFTER_DELETION, ...OF_NO_ACCOUNT];
  return tables.filter((table) => table.startsWith('sluice.') && !others.includes(table)).sort();
}

/**
 * The tables in which one of these texts is found, in any column, with one of the rows. Those that outlive an account may
 * have ids.
 */
export async function tablesWith(database: Queries, texts: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { table, columns } of await database.sql<Table>(TABLES)) {
    const wanted = KEPT_AFTER_DELETION.includes(table) ? texts.filter((text) => !ID.test(text)) : texts;
    // Bytes are shown as hexadecimal digits, and may be those of a text.
    const row = columns.map((column) => `coalesce(${column}::text, '')`).join(` || ' ' || `);
    const [hit] = await database.sql<{ row: string }>(
      `SELECT row FROM (SELECT ${row} AS row FROM ${table}) t
       WHERE EXISTS (SELECT FROM unnest($1::text[]) AS text
                     WHERE strpos(row, text) > 0 OR strpos(row, encode(convert_to(text, 'UTF8'), 'hex')) > 0)
       LIMIT 1`,
      [wanted],
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
