import { PostgresBans } from '#rate-limiting/adapters/postgres/postgres-bans.js';
import { Limiter } from '../support/limiter.js';

const HOUR_MS = 3_600_000;

describe('PostgresBans', () => {
  let limiter: Limiter;

  beforeAll(async () => {
    limiter = await Limiter.open();
  });
  afterAll(() => limiter.close());

  it('deletes offences that have no effect any more, and no others', async () => {
    // Times in milliseconds from now; the others are 0.
    const offences: Readonly<Record<string, Readonly<Record<string, number>>>> = {
      'has strikes': { strikes_end_ms: 30_000 },
      'is being refused': { refusing_window_ends_ms: HOUR_MS },
      'is still banned': { banned_at_ms: -25 * HOUR_MS, banned_until_ms: HOUR_MS },
      'would be banned for longer': { banned_at_ms: -23 * HOUR_MS, banned_until_ms: -22 * HOUR_MS },
      '(expired) had strikes': { strikes_end_ms: -25 * HOUR_MS, refusing_window_ends_ms: -25 * HOUR_MS },
      '(expired) was banned': { banned_at_ms: -25 * HOUR_MS, banned_until_ms: -24.5 * HOUR_MS },
    };
    for (const [keyId, times] of Object.entries(offences)) {
      const values = Object.values(times).map((ms) => Date.now() + ms);
      await limiter.sql(
        `INSERT INTO sluice.offences (key_id, account_id, ${Object.keys(times).join(', ')})
         VALUES ('${keyId}', 'acct', ${values.join(', ')})`,
      );
    }
    await new PostgresBans(await limiter.connect()).deleteExpired();
    const left = await limiter.sql<{ key_id: string }>('SELECT key_id FROM sluice.offences ORDER BY key_id');
    expect(left.map(({ key_id }) => key_id)).toEqual(Object.keys(offences).filter((name) => !name.startsWith('(')));
  });
});
