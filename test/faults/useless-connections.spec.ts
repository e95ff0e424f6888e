import type { Client } from 'pg';
import { PostgresQueueConnection } from '#delivery/adapters/bullmq/postgres/postgres-queue-connection.js';
import { ReliableClient } from '#platform/database/connection.js';
import { Database } from '#platform/database/database.js';
import { requireUsableDatabase } from '#platform/database/usable-database.js';
import { startErrorMessage } from '#platform/process/process.js';
import { accountOf, ownApi } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Program, until } from '../support/processes.js';
import { asOwner, dropRole, nameOf, newRole } from '../support/roles.js';

const WRITE = 'INSERT INTO public.things (n) VALUES (1)';
const TERMINATE = (url: string) =>
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${nameOf(url)}' AND pid <> pg_backend_pid()`;

const onServer = (url: string, ...statements: string[]) => asOwner(url.replace(/[^/]+$/, 'postgres'), ...statements);

describe('A connection that has become useless is replaced', () => {
  let database: TestDatabase;
  let role = '';
  let url = '';
  let pool: Database;
  const owner = (...statements: string[]) => asOwner(database.url, ...statements);

  beforeEach(async () => {
    database = await createTestDatabase('template0');
    await owner('CREATE TABLE public.things (n int)');
    ({ role, url } = await newRole(database.url));
    await owner(`GRANT SELECT, INSERT ON public.things TO ${role}`);
    pool = await Database.connect({ url, poolSize: 2, applicationName: 'spec', onError: () => undefined });
  });
  afterEach(async () => {
    await pool.close();
    await asOwner(database.url, TERMINATE(database.url));
    await dropRole(database.url, role);
    await database.drop();
  });

  /** Both connections of the pool do this. */
  const inEach = async (statement: string) => {
    await Promise.all([1, 2].map(() => pool.query(`SELECT pg_sleep(0.05)`)));
    await Promise.all([1, 2].map(() => pool.query(`${statement}; SELECT pg_sleep(0.05)`)));
  };

  it.each([
    ['cannot write any more', 'SET default_transaction_read_only = on', WRITE],
    ['is asked for a statement that it has forgotten', 'DEALLOCATE ALL', ''],
  ])('at once when it %s', async (_what, statement, text) => {
    const insert = () => (text === '' ? pool.prepared('insert', WRITE, []) : pool.query(text));
    await Promise.all([insert(), insert()]);
    await inEach(statement);
    for (let count = 0; count < 5; count++) await expect(insert()).resolves.toEqual([]);
  });

  it('at once when a table has changed under its plans', async () => {
    const read = () => pool.prepared('read', 'SELECT * FROM public.things', []);
    await Promise.all([read(), read()]);
    await owner('ALTER TABLE public.things ADD COLUMN more int', WRITE);
    for (let count = 0; count < 3; count++) await expect(read()).resolves.toEqual([{ n: 1, more: null }]);
  });

  it.each<[string, string, string]>([
    ['its rights were withdrawn', 'REVOKE INSERT ON public.things FROM ROLE', 'GRANT INSERT ON public.things TO ROLE'],
    ['it may not log in', 'ALTER ROLE ROLE NOLOGIN', 'ALTER ROLE ROLE LOGIN'],
    ['its role has too many connections', 'ALTER ROLE ROLE CONNECTION LIMIT 0', 'ALTER ROLE ROLE CONNECTION LIMIT -1'],
    ['another password is required', "ALTER ROLE ROLE PASSWORD 'other'", "ALTER ROLE ROLE PASSWORD 'secret'"],
    [
      'the database is read-only',
      'ALTER ROLE ROLE SET default_transaction_read_only = on',
      'ALTER ROLE ROLE RESET default_transaction_read_only',
    ],
  ])('when %s, and until then statements are refused as temporarily impossible', async (_what, harm, repair) => {
    await owner(harm.replaceAll('ROLE ROLE', `ROLE ${role}`).replace(/ROLE$/, role), TERMINATE(database.url));
    await until(() =>
      pool.query(WRITE).then(
        () => false,
        (error: unknown) => (error as { code: string }).code === 'unavailable',
      ),
    );
    await owner(repair.replaceAll('ROLE ROLE', `ROLE ${role}`).replace(/ROLE$/, role));
    await expect(pool.query(WRITE)).resolves.toEqual([]);
  });

  it('when the database is dropped and made anew', async () => {
    await onServer(database.url, `DROP DATABASE ${nameOf(database.url)} WITH (FORCE)`);
    await expect(pool.query(WRITE)).rejects.toMatchObject({ code: 'unavailable' });
    await onServer(database.url, `CREATE DATABASE ${nameOf(database.url)}`);
    await owner('CREATE TABLE public.things (n int)', `GRANT INSERT ON public.things TO ${role}`);
    await expect(pool.query(WRITE)).resolves.toEqual([]);
  });

  it('of the queue, also where BullMQ has borrowed it', async () => {
    const queue = new PostgresQueueConnection({
      ...{ url, poolSize: 1, queueName: 'spec', asynchronousCommit: false, onError: () => undefined },
    });
    const client = await queue.pool.connect();
    await client.query('SET default_transaction_read_only = on');
    await expect(client.query(WRITE)).rejects.toMatchObject({ code: '25006' });
    client.release();
    await expect(queue.pool.query(WRITE)).resolves.toMatchObject({ rowCount: 1 });
    await queue.pool.end();
  });

  it('that listens, once another one finds that it cannot write', async () => {
    const listener: Client = new ReliableClient(url);
    await listener.connect();
    const ended = new Promise((resolve) => listener.once('end', resolve));
    await listener.query('-- As BullMQ has it.\nLISTEN somewhere');
    await listener.query('SET default_transaction_read_only = on');
    await inEach('SET default_transaction_read_only = on');
    await pool.query(WRITE);
    await ended;
  });
});

describe('When the database becomes read-only', () => {
  const api = ownApi();
  const account = accountOf(api);

  it('requests are refused, the process is not ready, and both end with it', async () => {
    const url = api.environment.DATABASE_URL ?? '';
    const status = async () => (await api.send(account)).status;
    const isReady = async () => (await fetch(`${api.managementUrl}/health/ready`)).status === 200;
    const alter = `ALTER DATABASE ${nameOf(url)}`;
    expect(await status()).toBe(202);
    expect(await isReady()).toBe(true);
    await onServer(url, `${alter} SET default_transaction_read_only = on`, TERMINATE(url));
    await until(async () => (await status()) === 503);
    await until(async () => !(await isReady()));
    await onServer(url, `${alter} RESET default_transaction_read_only`);
    await until(async () => (await status()) === 202);
    await until(async () => isReady());
  });
});

describe('A process that cannot start says why', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it.each<[string, (url: string) => Promise<string>, RegExp]>([
    [
      'the database is read-only',
      async (url) => {
        await onServer(url, `ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = on`);
        return url;
      },
      /^The database at DATABASE_URL is read-only: default_transaction_read_only is on for .*\.$/,
    ],
    [
      'the password is wrong',
      (url) => Promise.resolve(Object.assign(new URL(url), { password: 'hunter2' }).href),
      /^The database at DATABASE_URL was reached, but cannot be used: password authentication failed for user "\w+"\.$/,
    ],
    [
      'there is no such database',
      (url) => Promise.resolve(url.replace(/[^/]+$/, 'nowhere')),
      /^The database at DATABASE_URL was reached, but cannot be used: database "nowhere" does not exist\.$/,
    ],
    [
      'nobody listens',
      () => Promise.resolve('postgres://nobody:hunter2@127.0.0.1:1/nowhere'),
      /^The database at DATABASE_URL cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1\.$/,
    ],
  ])('when %s', async (_what, change, sentence) => {
    const url = await change(database.url);
    const error: unknown = await requireUsableDatabase(url).catch((reason: unknown) => reason);
    expect(startErrorMessage(error)).toMatch(sentence);
  });

  it('prints one sentence and ends', async () => {
    const api = Program.run('dist/apps/api/main.js', {
      ...{ DATABASE_URL: database.url, API_KEY_PEPPER: 'p'.repeat(32), PORT: '0' },
    });
    expect(await api.ended()).toBe(1);
    expect(api.output).toMatch(/^api: The database at DATABASE_URL is read-only: [^\n]*\n$/);
  });
});
