import { PostgresRepeats } from '#accounts/adapters/postgres/postgres-repeats.js';
import { Database } from '#platform/database/database.js';
import type { Repeatable } from '#platform/http/access/repeats.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

describe('PostgresRepeats', () => {
  let own: TestDatabase;
  let database: Database;
  let repeats: PostgresRepeats;
  beforeAll(async () => {
    own = await createTestDatabase();
    const onError = () => undefined;
    database = await Database.connect({ url: own.url, poolSize: 2, applicationName: 'spec', onError });
    repeats = await PostgresRepeats.open(database, 'pepper');
  });
  afterAll(async () => {
    await database.close();
    await own.drop();
  });

  const repeatable = (key: string) => {
    const request = {
      ...{ method: 'POST', routeOptions: { url: '/messages/cancel' }, params: {} },
      headers: { 'idempotency-key': key },
      caller: { accountId: 'acct_1', scopes: [] },
    };
    const reply = { getHeader: () => undefined, header: () => undefined };
    return { request, reply, body: null } as unknown as Repeatable;
  };

  it('reports why the work failed, also if its key cannot be released, and does it again', async () => {
    const failing = repeats.afterwards(repeatable('key'), async () => {
      await database.query('ALTER TABLE sluice.kept_responses RENAME TO away');
      throw new Error('the first reason');
    });
    await expect(failing).rejects.toThrow('the first reason');
    await database.query('ALTER TABLE sluice.away RENAME TO kept_responses');
    await database.query(`UPDATE sluice.kept_responses SET stored_at = now() - interval '31 seconds'`);
    expect(await repeats.afterwards(repeatable('key'), () => Promise.resolve({ count: 1 }))).toEqual({ count: 1 });
    expect(await repeats.afterwards(repeatable('key'), () => Promise.resolve({ count: 2 }))).toEqual({ count: 1 });
  });

  it('releases the key of work that failed at once', async () => {
    const other = repeatable('other');
    await expect(repeats.afterwards(other, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await repeats.afterwards(other, () => Promise.resolve({ count: 3 }))).toEqual({ count: 3 });
  });
});
