import { SETTINGS, TestApi } from '../support/api.js';
import { Consumer } from '../support/consumer.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { freePort, Program, until } from '../support/processes.js';
import { asOwner, dropRole, newRole } from '../support/roles.js';

const REFUSED = 'somebody else';

/** The parameters of the functions and operators of PostgreSQL that take any type, with each of these instead. */
const OF_ONE_TYPE = `
  WITH types (t) AS (SELECT unnest(ARRAY['text', 'uuid', 'integer', 'bigint', 'boolean', 'jsonb', 'timestamptz'])),
  parameters AS (
    SELECT p.oid, proname, t, coalesce(r, 1) AS r, string_agg(
      CASE WHEN type::regtype::text ~ '^any.*array$' AND type::regtype::text !~ 'nonarray' THEN t || '[]'
           WHEN type::regtype::text ~ '^"?any' THEN t ELSE type::regtype::text END, ', ' ORDER BY n) AS list
    FROM pg_proc p CROSS JOIN types LEFT JOIN generate_series(1, 4) r ON provariadic <> 0,
      unnest(proargtypes::oid[]) WITH ORDINALITY a (type, n)
    WHERE pronamespace = 'pg_catalog'::regnamespace
    GROUP BY 1, 2, 3, 4 HAVING bool_or(type::regtype::text ~ '^"?any')
      AND bool_and(type::regtype::text ~ '^"?any' OR type::regtype::text NOT IN ('internal', 'cstring', 'record'))
  )`;

/** What they do is not undone when the statement fails. */
const FUNCTIONS = `${OF_ONE_TYPE}
  SELECT DISTINCT format(
    'CREATE FUNCTION public.%I(%s) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN
       PERFORM pg_catalog.nextval(''public.ran''); RAISE EXCEPTION ''code of ${REFUSED}''; END $f$',
    proname, list || repeat(', ' || t, r - 1)) AS sql
  FROM parameters`;

const OPERATORS = `${OF_ONE_TYPE}
  SELECT DISTINCT ON (oprname, list) format('CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = public.%I)', oprname,
    split_part(list, ', ', 1), split_part(list, ', ', 2), proname) AS sql
  FROM parameters JOIN pg_operator ON oprcode = parameters.oid WHERE oprkind = 'b' AND r = 1`;

describe('Functions and operators that another role has created in the schema public', () => {
  let database: TestDatabase;
  let neighbour: Awaited<ReturnType<typeof newRole>>;
  const programs: Program[] = [];

  beforeAll(async () => {
    database = await createTestDatabase('template0');
    neighbour = await newRole(database.url);
    // As it is by default up to PostgreSQL 14.
    await asOwner(database.url, 'GRANT CREATE ON SCHEMA public TO PUBLIC');
    const created = (
      await Promise.all([FUNCTIONS, OPERATORS].map((list) => asOwner<{ sql: string }>(database.url, list)))
    )
      .flat()
      .map(({ sql }) => sql);
    await asOwner(neighbour.url, 'CREATE SEQUENCE public.ran; GRANT ALL ON public.ran TO PUBLIC', created.join(';'));
  });
  afterAll(async () => {
    for (const program of programs) program.signal('SIGTERM');
    await Promise.all(programs.map((program) => program.ended()));
    await dropRole(database.url, neighbour.role);
    await database.drop();
  });

  it.each(["SELECT unnest(ARRAY['a'])", "SELECT format('%s', 'a'::text)", "SELECT ARRAY['a'] || ARRAY['b']"])(
    'replace those of PostgreSQL where that schema is searched: %s',
    async (text) => {
      await expect(asOwner(database.url, text)).rejects.toThrow(REFUSED);
      await expect(asOwner(database.url, 'SET search_path = pg_catalog', text)).resolves.toHaveLength(1);
    },
  );

  it('are not called by migrations, APIs and workers', async () => {
    const env = { ...SETTINGS, DATABASE_URL: database.url, LOG_LEVEL: 'warn' };
    await asOwner(database.url, "SELECT setval('public.ran', 1, false)");
    const api = Program.run('dist/apps/api/main.js', { ...env, PORT: String(await freePort()) });
    programs.push(api);
    await api.ready();
    const worker = Program.run('dist/apps/worker/main.js', env);
    programs.push(worker);
    await worker.ready();

    const client = TestApi.at(api.url, database.url);
    const account = await client.signUp();
    const { id } = await client.sent(account);
    await until(async () => (await client.ask(account, `GET /messages/${id}`)).body.status === 'delivered');
    await client.ask(account, 'PATCH /account', { delivery: 'pull' });
    await client.sent(account);
    const consumer = new Consumer(client, account);
    expect((await consumer.ack(await consumer.leaseOne())).status).toBe(204);
    for (const path of ['/messages', '/account', '/api-keys', '/account/usage'])
      expect((await client.ask(account, `GET ${path}`)).status).toBe(200);
    await client.stop();

    expect(programs.map(({ output }) => output).join('')).toBe('');
    expect(await asOwner(database.url, 'SELECT is_called FROM public.ran')).toEqual([{ is_called: false }]);
  });
});
