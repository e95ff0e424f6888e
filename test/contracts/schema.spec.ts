import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { lowestId } from '#kernel/ids.js';
import { ABANDON, FIND_IN_VAIN } from '#webhooks/adapters/postgres/abandoned-deliveries.sql.js';
import {
  DUE_ENDPOINTS,
  END_MESSAGES,
  LEASE_DELIVERIES,
  PICK_DELIVERIES,
  MAKE_READY,
  NEXT_IN,
  SETTLE_DELIVERIES,
} from '#webhooks/adapters/postgres/endpoint-deliveries.sql.js';
import { BY_INDEX } from '#platform/database/connection.js';
import { migrateSchema } from '../../apps/schema.js';
import { UsageError } from '#platform/process/usage-error.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { asOwner } from '../support/roles.js';

describe('migrateSchema', () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client(database.url);
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  it('lets BullMQ find a running job without reading those that have ended, while a snapshot is held', async () => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM bullmq.job');
    const other = new pg.Client(database.url);
    await other.connect();
    await other.query(`INSERT INTO bullmq.job (queue, id, seq, name, state, locked_until_ms, added_at_ms)
      SELECT 'q', n, n, 'message', 'active', n, 0 FROM generate_series(1, 5000) n`);
    await other.query(`DELETE FROM bullmq.job WHERE seq < 5000`);
    // As BullMQ asks it.
    const isRunning = `SELECT EXISTS (SELECT 1 FROM bullmq.job WHERE queue = 'q' AND state = 'active')`;
    const { rows } = await other.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ${isRunning}`,
    );
    expect(rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks']).toBeLessThan(20);
    await other.end();
    await client.query('COMMIT');
  });

  it('lets an account manage its keys without reading those that were revoked or have expired', async () => {
    const api = new pg.Client({ connectionString: database.url, options: BY_INDEX });
    await api.connect();
    await api.query(`
      INSERT INTO sluice.accounts (id, name, plan, per_minute, per_day, created_at)
      VALUES ('acct_1', 'Acme', 'free', 60, 1000, now());
      INSERT INTO sluice.api_keys (id, account_id, name, hash, scopes, created_at, expires_at, revoked_at)
      SELECT 'key_' || n, 'acct_1', 'key', sha256(n::text::bytea), '{}', now(),
             CASE WHEN n % 2 = 0 AND n > 20 THEN now() - interval '1 hour' END,
             CASE WHEN n % 2 = 1 AND n > 20 THEN now() END
      FROM generate_series(1, 20000) n`);
    // As TypeORM asks it.
    const unrevoked = `FROM sluice.api_keys WHERE account_id = 'acct_1' AND revoked_at IS NULL`;
    const steps = [
      `SELECT count(1) ${unrevoked} AND coalesce(expires_at, 'infinity') > now()`,
      `SELECT * ${unrevoked} ORDER BY id DESC LIMIT 11`,
    ];
    const plans = await Promise.all(
      steps.map((text) =>
        api.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
          `EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ${text}`,
        ),
      ),
    );
    // A trigger would change the account for each deleted key: for so long, the server would hold back all later events.
    await api.query('TRUNCATE sluice.api_keys, sluice.accounts CASCADE');
    await api.end();
    for (const { rows } of plans) expect(rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks']).toBeLessThan(100);
  });

  it('lets workers find due deliveries without reading those of endpoints that wait for a later time', async () => {
    await client.query(`
      INSERT INTO sluice.endpoint_deliveries (message_id, endpoint_id, account_id, due_at)
      SELECT 'msg_' || n, 'ep_' || n, 'acct', now() + CASE WHEN n > 20 THEN 1 ELSE -1 END * interval '1 hour'
      FROM generate_series(1, 20000) n`);
    await client.query('ANALYZE sluice.endpoint_deliveries');
    const steps: readonly (readonly [string, unknown[]])[] = [
      [MAKE_READY, [1_000]],
      [DUE_ENDPOINTS, [10]],
      [NEXT_IN, []],
    ];
    for (const [text, values] of steps) {
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ${text}`,
        values,
      );
      expect(rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks']).toBeLessThan(1_000);
    }
    expect((await client.query(DUE_ENDPOINTS, [10])).rows).toHaveLength(20);
    await client.query('DELETE FROM sluice.endpoint_deliveries');
  });

  it('lets workers send webhooks without reading the others, by plans that were made while there were none', async () => {
    const worker = new pg.Client({ connectionString: database.url, options: BY_INDEX });
    await worker.connect();
    const id = 'msg_01m70000000000000000000042';
    const ids = `ARRAY['${id}']`;
    const token = `'00000000-0000-4000-8000-000000000000'`;
    const steps = [
      ['ready', MAKE_READY, '1000'],
      ['pick', PICK_DELIVERIES, `ARRAY['ep_1'], ARRAY[4]`],
      ['lease', LEASE_DELIVERIES.for([id]).text, `${ids}, ARRAY['ep_1'], ${token}, 1000`],
      [
        'settle',
        SETTLE_DELIVERIES,
        `${ids}, ARRAY['ep_1'], ARRAY[${token}]::uuid[], ARRAY['retried'], ARRAY[0], ARRAY[NULL], ARRAY[500], ARRAY[''],
         ARRAY[0], ARRAY[NULL], ARRAY[0]`,
      ],
      ['finish', END_MESSAGES.for([id]).text, ids],
      ['find_in_vain', FIND_IN_VAIN, `'ep_1', 'msg_01m7', 10`],
      ['abandon', ABANDON, `'ep_1', ${ids}, 'endpoint_disabled'`],
    ] as const;
    try {
      await worker.query('ANALYZE sluice.messages, sluice.endpoint_deliveries');
      for (const [name, text, values] of steps) {
        await worker.query(`PREPARE ${name} AS ${text}`);
        await worker.query(`EXECUTE ${name}(${values})`);
      }
      await worker.query(`
        INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at, delivery)
        SELECT 'msg_01m7' || lpad(n::text, 22, '0'), 'acct', 'x', 'queued', now(), now(), 'webhooks'
        FROM generate_series(1, 20000) n`);
      await worker.query(`
        INSERT INTO sluice.endpoint_deliveries (message_id, endpoint_id, account_id, due_at, ready)
        SELECT id, 'ep_1', 'acct', now(), true FROM sluice.messages`);
      for (const [name, , values] of steps) {
        const { rows } = await worker.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
          `EXPLAIN (ANALYZE, BUFFERS, FORMAT json) EXECUTE ${name}(${values})`,
        );
        const pages = rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'];
        expect({ name, isLittle: (pages ?? Infinity) < 100 }).toEqual({ name, isLittle: true });
      }
      await worker.query('DELETE FROM sluice.endpoint_deliveries; DELETE FROM sluice.messages');
    } finally {
      await worker.end();
    }
  });

  it('ends the first partition a week after today, at the lowest id of that day', async () => {
    const { rows } = await client.query<{ name: string; bounds: string; table: string }>(`
      SELECT relname AS name, pg_get_expr(relpartbound, oid) AS bounds, split_part(relname, '_', 1) AS table
      FROM pg_class WHERE relname ~ '^(messages|attempts)_\\d+_\\d+$' AND relkind = 'r' ORDER BY relname`);
    expect(rows.map(({ table }) => table)).toEqual(['attempts', 'messages']);
    for (const { name, bounds } of rows) {
      const [, day = ''] = /_19700101_(\d{8})$/.exec(name) ?? [];
      const end = new Date(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`);
      expect(bounds).toBe(`FOR VALUES FROM ('${lowestId('msg', new Date(0))}') TO ('${lowestId('msg', end)}')`);
      // One day less when midnight has passed since the database was made.
      const days = (end.getTime() - Date.now()) / 86_400_000;
      expect([days > 6, days <= 8]).toEqual([true, true]);
    }
  });

  it('ends it at midnight in UTC, also in a time zone with clock changes', async () => {
    const file = 'libs/messages/adapters/postgres/migrations/0001-baseline.sql';
    const [, end = ''] = /ends timestamptz := (.*);/.exec(await readFile(file, 'utf8')) ?? [];
    await client.query(`SET timezone = 'Europe/Berlin'`);
    const { rows } = await client.query(`
      SELECT day FROM generate_series('2026-01-01'::timestamptz, '2027-01-01', interval '1 hour') AS day
      WHERE extract(epoch FROM ${end.replace('now()', 'day')}) % 86400 <> 0`);
    await client.query('RESET timezone');
    expect(end).toContain('now()');
    expect(rows).toEqual([]);
  });

  it('runs each migration once', async () => {
    const applied = 'SELECT * FROM sluice.migrations ORDER BY name';
    const before = await client.query(applied);
    await migrateSchema(database.url);
    expect((await client.query(applied)).rows).toEqual(before.rows);
  });

  it('finds nothing missing after what operators may do', async () => {
    await client.query(`
      CREATE UNIQUE INDEX accounts_by_name ON sluice.accounts (name, id);
      ALTER INDEX sluice.accounts_pkey SET (fillfactor = 90);
      REINDEX TABLE sluice.accounts;
      CREATE TABLE sluice.notes ()`);
    await expect(migrateSchema(database.url)).resolves.toBeUndefined();
    await client.query('DROP INDEX sluice.accounts_by_name; DROP TABLE sluice.notes');
    await expect(migrateSchema(database.url)).resolves.toBeUndefined();
  });

  it.each([
    [
      'a key',
      'ALTER TABLE sluice.idempotency_keys DROP CONSTRAINT idempotency_keys_pkey',
      'unique index idempotency_keys_pkey on sluice.idempotency_keys',
    ],
    [
      'the keys of partitions',
      'ALTER TABLE sluice.attempts DROP CONSTRAINT attempts_pkey',
      'unique index attempts_pkey on sluice.attempts',
    ],
    [
      'a key that could not be made',
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sluice.accounts_pkey'::regclass",
      'unique index accounts_pkey on sluice.accounts',
    ],
    ['a trigger', 'DROP TRIGGER messages_added ON sluice.messages', 'trigger messages_added on sluice.messages'],
    [
      'a trigger that is disabled',
      'ALTER TABLE sluice.messages DISABLE TRIGGER messages_added',
      'trigger messages_added on sluice.messages',
    ],
    ['a function', 'DROP FUNCTION sluice.take_hits CASCADE', 'function sluice.take_hits'],
    ['a column', 'ALTER TABLE sluice.messages DROP COLUMN traceparent', 'column sluice.messages.traceparent'],
    ['a table', 'DROP TABLE sluice.ordered_deliveries CASCADE', 'table sluice.ordered_deliveries'],
    [
      'a part of the queue',
      'ALTER TABLE bullmq.job DROP CONSTRAINT job_pkey CASCADE',
      'unique index job_pkey on bullmq.job',
    ],
  ])('refuses a database that lacks %s', async (_what, change, part) => {
    const incomplete = await createTestDatabase();
    await asOwner(incomplete.url, change);
    const error: unknown = await migrateSchema(incomplete.url).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toMatch(
      /^UsageError: The database at DATABASE_URL is incomplete\. It lacks: .*\. See "Back up and restore"/,
    );
    expect(String(error)).toContain(part);
    await incomplete.drop();
  });

  it.each([
    ['a development version', ['accounts/0001-accounts', 'accounts/0002-epochs', 'messages/0001-messages']],
    ['the first development versions', ['Accounts1763700000000']],
  ])('refuses the database of %s, and changes nothing in it', async (_, names) => {
    const old = await createTestDatabase('template0');
    const other = new pg.Client(old.url);
    await other.connect();
    try {
      await other.query(`
        CREATE SCHEMA sluice;
        CREATE TABLE sluice.migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
        CREATE TABLE sluice.installation (name text PRIMARY KEY, value text NOT NULL)`);
      await other.query('INSERT INTO sluice.migrations SELECT unnest($1::text[])', [names]);
      const contents = `SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname IN ('sluice', 'bullmq') ORDER BY 1, 2`;
      const before = await other.query(contents);
      await expect(migrateSchema(old.url)).rejects.toThrow('before the first release');
      expect((await other.query(contents)).rows).toEqual(before.rows);
      expect((await other.query('SELECT name FROM sluice.migrations ORDER BY name')).rows).toEqual(
        names.map((name) => ({ name })),
      );
    } finally {
      await other.end();
      await old.drop();
    }
  });
});
