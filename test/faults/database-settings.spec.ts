import { Database } from '#platform/database/database.js';
import { PostgresQueueConnection } from '#delivery/adapters/bullmq/postgres/postgres-queue-connection.js';
import { requireUsableDatabase } from '#platform/database/usable-database.js';
import { startErrorMessage } from '#platform/process/process.js';
import { migrateSchema } from '../../apps/schema.js';
import { ownApi, accountOf } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/processes.js';
import { asOwner, nameOf, newRole, dropRole } from '../support/roles.js';

/** Defaults of a database or a role, each with a value that would change what is read or how statements run. */
const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ...(['German', 'Postgres, DMY', 'SQL, YMD'] as const).map((style) => ['DateStyle', style] as const),
  ['IntervalStyle', 'iso_8601'],
  ['TimeZone', 'Asia/Kathmandu'],
  ['bytea_output', 'escape'],
  ['extra_float_digits', '-10'],
  ['search_path', 'nowhere'],
  ['standard_conforming_strings', 'off'],
  ['client_encoding', 'LATIN1'],
  ['default_transaction_isolation', 'serializable'],
  ['default_transaction_deferrable', 'on'],
  ['synchronous_commit', 'local'],
  ['statement_timeout', '1'],
  ['lock_timeout', '1'],
  ['idle_in_transaction_session_timeout', '1'],
  ['idle_session_timeout', '1'],
  ['transaction_timeout', '200'],
  ['transform_null_equals', 'on'],
  ['xmloption', 'document'],
  ['row_security', 'on'],
  ['session_replication_role', 'replica'],
  ['quote_all_identifiers', 'on'],
  ['array_nulls', 'off'],
  ['backslash_quote', 'off'],
  ['escape_string_warning', 'off'],
  ['lc_monetary', 'C.UTF-8'],
  ['enable_indexscan', 'off'],
  ['jit', 'on'],
  ['plan_cache_mode', 'force_custom_plan'],
  ['exit_on_error', 'on'],
  ['client_min_messages', 'debug5'],
  ['debug_parallel_query', 'on'],
  ['lc_messages', 'C'],
  ['check_function_bodies', 'off'],
  ['lo_compat_privileges', 'on'],
  ['timezone_abbreviations', 'India'],
  ['enable_partitionwise_join', 'on'],
  ['work_mem', '64kB'],
  ['default_table_access_method', 'other'],
  ['default_tablespace', 'pg_global'],
  ['temp_tablespaces', 'nowhere'],
  ['default_text_search_config', 'pg_catalog.simple'],
  ['backtrace_functions', 'exec_simple_query'],
  ['createrole_self_grant', 'set'],
  ['max_stack_depth', '100kB'],
  ['session_authorization', 'nobody'],
  ['role', 'nobody'],
  ['plpgsql.extra_errors', 'all'],
  ['plpgsql.variable_conflict', 'use_column'],
  ['default_toast_compression', 'pglz'],
  ['gin_fuzzy_search_limit', '1'],
  ['restrict_nonsystem_relation_kind', 'view'],
];

const READ = `SELECT '2026-11-21T09:30:00.123Z'::timestamptz AS time, '\\x00ff'::bytea AS bytes, 0.1::float8 AS number,
  (SELECT count(*)::int FROM unnest('{NULL,1}'::int[]) AS n WHERE n IS NULL) AS nulls, interval '1 day 2 hours' AS interval,
  (SELECT count(*)::int FROM (VALUES (NULL::int)) v (n) WHERE n = NULL) AS found,
  (SELECT count(*)::int FROM sluice.enabled_endpoints) AS endpoints, 'ü€' AS text, now()::text ~ '\\+00$' AS utc`;

const CREATE = `CREATE TABLE public.made (id int PRIMARY KEY, text text)`;
const MADE = `SELECT amname AS method, reltablespace::int AS tablespace FROM pg_class c JOIN pg_am a ON a.oid = relam
  WHERE relname LIKE 'made%' ORDER BY relname`;
const ASSIGN = 'DO $$ DECLARE n int; BEGIN SELECT * INTO n FROM generate_series(1, 2); END $$';

describe('A default that an operator sets', () => {
  let database: TestDatabase;
  let expected: object[];
  const open = (url: string) =>
    Database.connect({ url, poolSize: 2, applicationName: 'spec', onError: () => undefined });

  beforeAll(async () => {
    database = await createTestDatabase();
    await asOwner(database.url, 'CREATE ACCESS METHOD other TYPE TABLE HANDLER heap_tableam_handler');
    const first = await open(database.url);
    expected = await first.query(READ);
    await first.close();
  });
  afterAll(() => database.drop());
  const onServer = (statement: string) => asOwner(database.url.replace(/[^/]+$/, 'postgres'), statement);

  it.each(SETTINGS)('for a database has no effect: %s = %s', async (name, value) => {
    const alter = `ALTER DATABASE ${nameOf(database.url)}`;
    await asOwner(database.url, `${alter} SET ${name} = ${value.includes(',') ? value : `'${value}'`}`);
    const changed = await open(database.url);
    const queue = new PostgresQueueConnection({
      ...{ url: database.url, poolSize: 2, queueName: 'spec', asynchronousCommit: false, onError: () => undefined },
    });
    try {
      expect(await changed.query(READ)).toEqual(expected);
      expect((await queue.pool.query(READ)).rows).toEqual(expected);
      const held = (text: string) => queue.pool.query<Record<string, string>>(text);
      await held(ASSIGN);
      await held(CREATE);
      const made = [
        { method: 'heap', tablespace: 0 },
        { method: 'btree', tablespace: 0 },
      ];
      expect((await held(MADE)).rows).toEqual(made);
      await held('DROP TABLE public.made');
      expect((await held('SHOW search_path')).rows).toEqual([{ search_path: 'bullmq' }]);
      expect((await held('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);
      expect((await held('SHOW session_replication_role')).rows).toEqual([{ session_replication_role: 'origin' }]);
      await expect(requireUsableDatabase(database.url)).resolves.toBeUndefined();
    } finally {
      await Promise.all([changed.close(), queue.close()]);
      await asOwner(database.url, `${alter} RESET ALL`);
    }
  });

  it('for a role, if the role cannot override it, keeps processes from starting', async () => {
    const { role, url } = await newRole(database.url);
    await asOwner(database.url, `ALTER ROLE ${role} SET session_replication_role = replica`);
    const failing = requireUsableDatabase(url);
    await expect(failing).rejects.toMatchObject({
      cause: { message: expect.stringContaining('session_replication_role') as string },
    });
    await dropRole(database.url, role);
  });

  it('that loads a library which is not there keeps processes from starting', async () => {
    const alter = `ALTER DATABASE ${nameOf(database.url)}`;
    for (const [setting, value] of [
      ['local_preload_libraries', 'nowhere'],
      ['session_preload_libraries', 'nowhere'],
      ['dynamic_library_path', '/nowhere'],
    ]) {
      await onServer(`${alter} SET ${setting} = '${value}'`);
      const error: unknown = await requireUsableDatabase(database.url).catch((reason: unknown) => reason);
      expect(startErrorMessage(error)).toMatch(
        /^The database at DATABASE_URL was reached, but cannot be used: could not access file "[^\n]*(nowhere|plpgsql)": [^\n]*\.$/,
      );
      await onServer(`${alter} RESET ALL`);
    }
  });

  it('gives the user another role: that of a member is used, and rights that it lacks are named', async () => {
    const { role, url } = await newRole(database.url);
    const other = await newRole(database.url);
    await asOwner(database.url, `GRANT ${other.role} TO ${role}`, `ALTER ROLE ${role} SET role = ${other.role}`);
    await expect(requireUsableDatabase(url)).resolves.toBeUndefined();
    await expect(migrateSchema(url)).rejects.toThrow(
      new RegExp(`^The role ${other.role}, which is set for the user of DATABASE_URL, lacks rights: USAGE on schema `),
    );
    await asOwner(database.url, `GRANT sluice TO ${other.role}`);
    const changed = await open(url);
    expect(await changed.query(READ)).toEqual(expected);
    await expect(migrateSchema(url)).resolves.toBeUndefined();
    await changed.close();
    await dropRole(database.url, role);
    await dropRole(database.url, other.role);
  });

  it('for a role has no effect, nor has one in the options of the URL', async () => {
    const { role, url } = await newRole(database.url);
    await asOwner(
      database.url,
      `ALTER ROLE ${role} SET datestyle = German`,
      `GRANT USAGE ON SCHEMA sluice TO ${role}`,
      `GRANT SELECT ON sluice.enabled_endpoints TO ${role}`,
    );
    const options = encodeURIComponent('-c DateStyle=German --TimeZone=Asia/Kathmandu -c work_mem=7MB');
    const changed = await open(`${url}?options=${options}`);
    expect(await changed.query(READ)).toEqual(expected);
    expect(await changed.query('SHOW work_mem')).toEqual([{ work_mem: '7MB' }]);
    await expect(requireUsableDatabase(`${url}?options=${options}`)).resolves.toBeUndefined();
    await changed.close();
    await dropRole(database.url, role);
  });

  it.each([
    ['PGOPTIONS', '-c DateStyle=German -c TimeZone=Asia/Kathmandu -c bytea_output=escape'],
    ['PGDATESTYLE', 'German'],
    ['PGTZ', 'Asia/Kathmandu'],
    ['PGCLIENTENCODING', 'LATIN1'],
    ['PGTARGETSESSIONATTRS', 'standby'],
    ['PGSSLROOTCERT', '/nowhere'],
    ['PGSSLNEGOTIATION', 'direct'],
    ['PGHOST', 'nowhere.invalid'],
    ['PGPORT', '1'],
    ['PGUSER', 'nobody'],
    ['PGPASSWORD', 'wrong'],
    ['PGDATABASE', 'nothing'],
    ['PGSERVICE', 'nothing'],
  ])('in the environment has no effect beside a whole URL: %s', async (name, value) => {
    process.env[name] = value;
    const changed = await open(database.url).finally(() => Reflect.deleteProperty(process.env, name));
    expect(await changed.query(READ)).toEqual(expected);
    await changed.close();
  });

  it.each(['SELECT now() AS time', 'SELECT now()::timestamp AS time', 'SELECT now()::date AS time'])(
    'in a session, which nothing does, makes a time an error instead of null: %s',
    async (text) => {
      const changed = await open(database.url);
      const reading = changed.transaction(async (client) => {
        await client.query("SET LOCAL datestyle = 'German'");
        return client.query(text);
      });
      await expect(reading).rejects.toThrow('a time that cannot be read');
      expect(await changed.query("SELECT 'infinity'::timestamptz AS time, NULL::timestamptz AS none")).toEqual([
        { time: Infinity, none: null },
      ]);
      await changed.close();
    },
  );
});

describe('With dates in another style', () => {
  const api = ownApi();
  const account = accountOf(api);

  it('a key expires, and times are shown', async () => {
    await api.sql(`ALTER DATABASE ${nameOf(api.environment.DATABASE_URL ?? '')} SET datestyle = German`);
    await api
      .sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`)
      .catch(() => undefined);
    // Requests that meet a connection which has just ended are refused with 503.
    await until(async () => (await api.send(account)).status === 202);
    const { createdAt } = await api.sent(account);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    await api.sql(`UPDATE sluice.api_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, [account.keyId]);
    expect((await api.send(account)).status).toBe(401);
  });
});
