import { Database } from '#platform/database/database.js';
import { PostgresBans } from '#rate-limiting/adapters/postgres/postgres-bans.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const HOUR_MS = 3_600_000;

describe('PostgresBans', () => {
  let test: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    test = await createTestDatabase();
    database = await Database.connect({
      ...{ url: test.url, poolSize: 2, applicationName: 'contract', onError: () => undefined },
    });
  });
  afterAll(async () => {
    await database.close();
    await test.drop();
  });

  /** An offence whose times are so many milliseconds away from now; what is not given was never. */
  const offend = (keyId: string, times: Readonly<Record<string, number>>) => {
    const columns = Object.keys(times);
    const values = Object.values(times).map((ms) => Date.now() + ms);
    const places = columns.map((_, index) => `$${index + 2}`);
    return database.query(
      `INSERT INTO sluice.offences (key_id, account_id, ${columns.join(', ')}) VALUES ($1, 'acct', ${places.join(', ')})`,
      [keyId, ...values],
    );
  };

  it('forgets offences that change nothing any more, and no others', async () => {
    await offend('still banned', { banned_at_ms: -25 * HOUR_MS, banned_until_ms: HOUR_MS });
    await offend('would be banned for longer', { banned_at_ms: -23 * HOUR_MS, banned_until_ms: -22 * HOUR_MS });
    await offend('has strikes', { strikes_end_ms: 30_000 });
    await offend('is being refused', { refusing_window_ends_ms: HOUR_MS });
    await offend('was banned', { banned_at_ms: -25 * HOUR_MS, banned_until_ms: -24.5 * HOUR_MS });
    await offend('had strikes', { strikes_end_ms: -25 * HOUR_MS, refusing_window_ends_ms: -25 * HOUR_MS });
    await new PostgresBans(database).forget();
    const left = await database.query<{ key_id: string }>('SELECT key_id FROM sluice.offences ORDER BY key_id');
    expect(left.map(({ key_id }) => key_id)).toEqual([
      'has strikes',
      'is being refused',
      'still banned',
      'would be banned for longer',
    ]);
  });
});
