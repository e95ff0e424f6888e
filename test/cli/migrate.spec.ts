import { Cli } from '../support/cli.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { asOwner, dropRole, newRole } from '../support/roles.js';

jest.setTimeout(180_000);

describe('sluice migrate', () => {
  const cli = new Cli({});
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase('template0');
  });
  afterAll(async () => {
    cli.remove();
    await database.drop();
  });

  const migrate = (env: Readonly<Record<string, string>>) => cli.run(['migrate'], { env });

  it('creates the tables, and changes nothing when it runs again', async () => {
    const tables = () =>
      asOwner(
        database.url,
        `SELECT c.oid, relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
                             WHERE nspname IN ('sluice', 'bullmq') ORDER BY 1`,
      );
    expect(await migrate({ DATABASE_URL: database.url })).toMatchObject({
      ...{ code: 0, stdout: 'The database has the tables of this version.\n', stderr: '' },
    });
    const created = await tables();
    expect(created.length).toBeGreaterThan(20);
    expect((await migrate({ DATABASE_URL: database.url })).code).toBe(0);
    expect(await tables()).toEqual(created);
  });

  it.each([
    ['without a database', {}, /DATABASE_URL/],
    ['with one that is away', { DATABASE_URL: 'postgres://sluice@127.0.0.1:1/sluice' }, /cannot be reached/],
  ])('says %s what is wrong', async (_case, env: Record<string, string>, message) => {
    const { code, stdout, stderr } = await migrate(env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });

  it('says that it lacks the rights', async () => {
    const empty = await createTestDatabase('template0');
    const { role, url } = await newRole(empty.url);
    const { code, stderr } = await migrate({ DATABASE_URL: url });
    await dropRole(empty.url, role);
    await empty.drop();
    expect(code).toBe(1);
    expect(stderr).toContain('must run as the owner');
  });
});
