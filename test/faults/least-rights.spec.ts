import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runMigrations } from 'bullmq';
import { PostgresPartitions } from '#upkeep/adapters/postgres/postgres-partitions.js';
import { ReliableClient } from '#platform/database/connection.js';
import { Database } from '#platform/database/database.js';
import { BULLMQ_SCHEMA, migrateSchema } from '../../apps/schema.js';
import { SETTINGS, TestApi } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { freePort, Program, ROOT, until } from '../support/processes.js';
import { asOwner, dropRole, newRole } from '../support/roles.js';

/** The statements of docs/deploy.md that give a role the rights of the processes. */
function grantsTo(role: string): string[] {
  const page = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8');
  const [, sql = ''] = /```sql\nCREATE ROLE[^\n]*\n(GRANT USAGE ON SCHEMA[\s\S]*?)```/.exec(page) ?? [];
  return sql
    .replaceAll('sluice_app', role)
    .split(';')
    .filter((statement) => statement.trim() !== '');
}

describe('A role that can only read and write', () => {
  let database: TestDatabase;
  let role = '';
  let url = '';
  const programs: Program[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    ({ role, url } = await newRole(database.url));
    await asOwner(database.url, ...grantsTo(role));
  });
  afterAll(async () => {
    for (const program of programs) program.signal('SIGTERM');
    await Promise.all(programs.map((program) => program.ended()));
    await dropRole(database.url, role);
    await database.drop();
  });

  it('lets processes accept and deliver', async () => {
    const env = { ...SETTINGS, DATABASE_URL: url, LOG_LEVEL: 'warn' };
    const api = Program.run('dist/apps/api/main.js', { ...env, PORT: String(await freePort()) });
    const worker = Program.run('dist/apps/worker/main.js', env);
    programs.push(api, worker);
    await Promise.all([api.ready(), worker.ready()]);
    const client = TestApi.at(api.url, database.url);
    const account = await client.signUp();
    const { id } = await client.sent(account);
    await until(async () => (await client.ask(account, `GET /messages/${id}`)).body.status === 'delivered');
    await client.stop();
    expect(programs.map(({ output }) => output).join('')).toBe('');
  });

  it('lets retention add and remove partitions, and nobody else', async () => {
    const pool = await Database.connect({ url, poolSize: 1, applicationName: 'spec', onError: () => undefined });
    const partitions = new PostgresPartitions(pool);
    const [first] = (await partitions.list()).periods;
    if (first === undefined) throw new Error('There is no partition.');
    const period = { from: first.until, until: new Date(first.until.getTime() + 86_400_000) };
    expect(await partitions.add(period)).toBe(true);
    expect(await partitions.empty(period)).toBe(false);
    await asOwner(database.url, 'DELETE FROM sluice.messages');
    expect(await partitions.remove(first)).toBe(true);
    expect(await partitions.removeStragglers(new Date())).toBe(0);
    await expect(pool.query(`DROP TABLE sluice.messages`)).rejects.toMatchObject({ code: 'unavailable' });
    await pool.close();
    const other = await newRole(database.url);
    await asOwner(database.url, `GRANT USAGE ON SCHEMA sluice TO ${other.role}`);
    const calling = asOwner(other.url, "SELECT sluice.remove_period('', '', '')");
    await expect(calling).rejects.toMatchObject({ code: '42501' });
    await dropRole(database.url, other.role);
  });

  it('also lets processes use what a later version adds', async () => {
    await asOwner(
      database.url,
      'CREATE TABLE sluice.later (id bigserial)',
      'CREATE FUNCTION sluice.count_later() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM sluice.later $$',
      'REVOKE EXECUTE ON FUNCTION sluice.count_later FROM PUBLIC',
    );
    await migrateSchema(url);
    await asOwner(url, 'INSERT INTO sluice.later DEFAULT VALUES', 'SELECT sluice.count_later()');
    await asOwner(database.url, 'DROP FUNCTION sluice.count_later', 'DROP TABLE sluice.later');
  });

  it.each([
    ['INSERT ON sluice.messages', 'INSERT on sluice.messages'],
    ['USAGE ON SCHEMA bullmq', 'USAGE on schema bullmq'],
    ['EXECUTE ON FUNCTION sluice.add_period', 'EXECUTE on sluice.add_period'],
  ])('does not start a process without %s, which the error names', async (right, named) => {
    await asOwner(database.url, `REVOKE ${right} FROM ${role}`);
    const failing = migrateSchema(url);
    await expect(failing).rejects.toThrow(named);
    await asOwner(database.url, ...grantsTo(role));
    await migrateSchema(url);
  });

  it.each(['messages', 'outbox', 'migrations'])(
    'does not start a process that sees only a part of %s',
    async (table) => {
      await asOwner(database.url, `ALTER TABLE sluice.${table} ENABLE ROW LEVEL SECURITY`);
      const failing = migrateSchema(url);
      await expect(failing).rejects.toThrow(`all rows of sluice.${table}, which has row-level security`);
      // The owner sees all of it.
      await migrateSchema(database.url);
      await asOwner(database.url, `ALTER TABLE sluice.${table} DISABLE ROW LEVEL SECURITY`);
      await migrateSchema(url);
    },
  );

  it('cannot migrate: that needs the owner', async () => {
    await asOwner(database.url, `DELETE FROM sluice.migrations WHERE name = 'upkeep/0001-baseline'`);
    await expect(migrateSchema(url)).rejects.toThrow(/migrations .* owner/);
    await asOwner(database.url, `INSERT INTO sluice.migrations (name) VALUES ('upkeep/0001-baseline')`);
  });
});

it('BULLMQ_SCHEMA is the schema version of the installed BullMQ', async () => {
  const database = await createTestDatabase();
  const client = new ReliableClient(database.url);
  await client.connect();
  expect(await runMigrations(client)).toBe(BULLMQ_SCHEMA);
  await client.end();
  await database.drop();
});
