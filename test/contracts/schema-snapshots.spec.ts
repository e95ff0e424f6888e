import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runMigrations } from 'bullmq';
import pg from 'pg';
import { migrateSchema } from '../../apps/schema.js';
import { createTestDatabase } from '../support/database.js';

const FOLDER = join(import.meta.dirname, 'schema-snapshots');

/** What the schema consists of, a line each. Partitions are like their parent. */
const DEFINITIONS = `
  WITH ours AS (
    SELECT c.oid, c.relname, c.relkind, c.reloptions FROM pg_class c
    WHERE c.relnamespace = 'sluice'::regnamespace AND NOT c.relispartition AND c.relkind IN ('r', 'p', 'v', 'S')
  )
  SELECT 'relation ' || relname || ' ' || relkind::text || coalesce(' ' || array_to_string(reloptions, ' '), '') AS definition
  FROM ours
  UNION SELECT concat_ws(' ', 'column', relname, attname, format_type(atttypid, atttypmod), collname, attidentity::text,
                         CASE WHEN attnotnull THEN 'NOT NULL' END, pg_get_expr(adbin, adrelid))
  FROM ours JOIN pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped
  LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  LEFT JOIN pg_collation co ON co.oid = attcollation
  UNION SELECT concat_ws(' ', 'constraint', relname, conname, pg_get_constraintdef(co.oid))
  FROM ours JOIN pg_constraint co ON conrelid = ours.oid
  UNION SELECT pg_get_indexdef(i.indexrelid) FROM ours JOIN pg_index i ON indrelid = oid
  UNION SELECT pg_get_indexdef(i.oid) FROM pg_class i
  WHERE i.relnamespace = 'bullmq'::regnamespace AND i.relname LIKE 'sluice%'
  UNION SELECT pg_get_triggerdef(t.oid) FROM ours JOIN pg_trigger t ON tgrelid = ours.oid AND NOT tgisinternal
  UNION SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'sluice'::regnamespace
  UNION SELECT concat_ws(' ', 'view', relname, pg_get_viewdef(oid)) FROM ours WHERE relkind = 'v'
  ORDER BY definition`;

/** Tables that PostgreSQL would refuse to update where a publication names all tables. */
const UNIDENTIFIED = `
  SELECT c.oid::regclass::text AS name FROM pg_class c
  WHERE relnamespace IN ('sluice'::regnamespace, 'bullmq'::regnamespace) AND relkind IN ('r', 'p') AND relreplident <> 'f'
    AND NOT EXISTS (
      SELECT FROM pg_index WHERE indrelid = c.oid AND indisvalid
        AND CASE relreplident WHEN 'd' THEN indisprimary WHEN 'i' THEN indisreplident END
    )`;

async function withClient<T>(url: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}

async function definitionsIn(url: string): Promise<string[]> {
  const { rows } = await withClient(url, (client) => client.query<{ definition: string }>(DEFINITIONS));
  return rows.map(({ definition }) => definition);
}

async function unidentifiedIn(url: string): Promise<string[]> {
  const { rows } = await withClient(url, (client) => client.query<{ name: string }>(UNIDENTIFIED));
  return rows.map(({ name }) => name);
}

describe('migrateSchema', () => {
  it.each(readdirSync(FOLDER))('migrates the schema of %s to the present schema', async (name) => {
    const [today, released] = await Promise.all([createTestDatabase(), createTestDatabase('template0')]);
    try {
      await withClient(released.url, async (client) => {
        await runMigrations(client);
        await client.query(readFileSync(join(FOLDER, name), 'utf8'));
      });
      await migrateSchema(released.url);
      const expected = await definitionsIn(today.url);
      expect(expected.length).toBeGreaterThan(100);
      expect(await definitionsIn(released.url)).toEqual(expected);
      // Each table has a key, partitions included.
      expect([await unidentifiedIn(today.url), await unidentifiedIn(released.url)]).toEqual([[], []]);
    } finally {
      await Promise.all([today.drop(), released.drop()]);
    }
  });

  it('makes its indexes in the schema of BullMQ again when that was lost', async () => {
    const [whole, damaged] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    try {
      const expected = await definitionsIn(whole.url);
      for (const damage of ['DROP SCHEMA bullmq CASCADE', 'DROP INDEX bullmq.sluice_running_jobs']) {
        await withClient(damaged.url, (client) => client.query(damage));
        await migrateSchema(damaged.url);
        expect(await definitionsIn(damaged.url)).toEqual(expected);
      }
    } finally {
      await Promise.all([whole.drop(), damaged.drop()]);
    }
  });
});
