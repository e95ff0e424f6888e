import { PostgresBans } from '#rate-limiting/adapters/postgres/postgres-bans.js';
import { TAKE_HITS } from '#rate-limiting/adapters/postgres/take-hits.js';
import type { Hit, Limiter } from '#rate-limiting/application/limiter.js';
import { LimiterFixture, POLICY } from '../support/limiter.js';
import { describeLimiter } from './limiter.contract.js';

describeLimiter('PostgresLimiter', () => LimiterFixture.open());

const HOUR_MS = 3_600_000;

/** Rows of the tables of `sluice.take_hits` that this connection has read. */
const ROWS_READ = `
  SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int AS rows FROM pg_stat_xact_user_tables
  WHERE relname IN ('accounts', 'rate_limits', 'offences')`;

/** The parameters of TAKE_HITS for single hits. */
function valuesOf(hits: readonly Hit[]): unknown[] {
  const of = <T>(value: (hit: Hit) => T) => hits.map(value);
  return [
    ...[of(({ accountId }) => accountId), of(({ keyId }) => keyId), of(({ epoch }) => epoch), of(({ count }) => count)],
    ...[of(() => false), of(() => 0), POLICY.graceMs, POLICY.afterRefusals, POLICY.banMs, POLICY.maxBanMs],
  ];
}

describe('The limiter on PostgreSQL', () => {
  let limiter: LimiterFixture;
  let one: Limiter;

  beforeAll(async () => {
    limiter = await LimiterFixture.open();
    one = await limiter.process();
  });
  afterAll(() => limiter.close());

  it('deletes windows in steps, however many there are, and skips locked ones', async () => {
    const held = await limiter.account(5);
    await one.hit(held);
    await limiter.sql(`UPDATE sluice.rate_limits SET minute_ends_ms = 1, day_ends_ms = 1`);
    await limiter.sql(
      `INSERT INTO sluice.rate_limits (account_id, minute_ends_ms, day_ends_ms)
       SELECT 'acct_old_' || n, 1, 1 FROM generate_series(1, 2500) AS n`,
    );
    await limiter.sql('BEGIN');
    await limiter.sql('SELECT FROM sluice.rate_limits WHERE account_id = $1 FOR UPDATE', [held.accountId]);
    await one.deleteExpired();
    await limiter.sql('ROLLBACK');
    expect(await limiter.sql('SELECT account_id FROM sluice.rate_limits')).toEqual([{ account_id: held.accountId }]);
  });

  it('loses no strikes of a key when the account changes meanwhile', async () => {
    const hit = await limiter.account(1);
    for (const kind of ['admitted', 'refused', 'refused', 'refused']) expect((await one.hit(hit)).kind).toBe(kind);
    await limiter.change(hit, { perMinute: 9, perDay: 9 });
    expect((await one.hit({ ...hit, epoch: 2 })).kind).toBe('stale');

    const rows = await limiter.sql('SELECT strikes FROM sluice.offences WHERE key_id = $1', [hit.keyId]);
    expect(rows).toEqual([{ strikes: 3 }]);
  });

  it('asks at once whether a ban was lifted, when the account has changed as well and another key has shown it', async () => {
    const process = await limiter.process({ graceMs: 0, afterRefusals: 1, banMs: 600_000, maxBanMs: 2_000_000 });
    const hit = await limiter.account(1);
    for (const kind of ['admitted', 'banned', 'banned']) expect((await process.hit(hit)).kind).toBe(kind);
    await limiter.change(hit, { perMinute: 9, perDay: 9 });
    expect((await process.hit({ ...hit, keyId: 'key_other', epoch: 1 })).kind).toBe('admitted');
    await limiter.sql('DELETE FROM sluice.offences WHERE key_id = $1', [hit.keyId]);
    expect((await process.hit(hit)).kind).toBe('stale');
    expect((await process.hit({ ...hit, epoch: 1 })).kind).toBe('admitted');
  });

  it('stores pending strikes when its process stops', async () => {
    const stopping = await limiter.process();
    const hit = await limiter.account(1);
    for (const kind of ['admitted', 'refused', 'refused', 'refused']) expect((await stopping.hit(hit)).kind).toBe(kind);
    await stopping.close();
    const rows = await limiter.sql('SELECT strikes FROM sluice.offences WHERE key_id = $1', [hit.keyId]);
    expect(rows).toEqual([{ strikes: 3 }]);
  });

  it('is unavailable, and admits nothing, while its counters are locked', async () => {
    const hit = await limiter.account(10);
    await one.hit(hit);
    await limiter.sql('BEGIN');
    await limiter.sql('SELECT FROM sluice.rate_limits WHERE account_id = $1 FOR UPDATE', [hit.accountId]);
    const outcomes = await Promise.allSettled([1, 1, 3].map((count) => one.hit({ ...hit, count })));
    await limiter.sql('ROLLBACK');

    expect(outcomes).toMatchObject(Array(3).fill({ status: 'rejected', reason: { code: 'unavailable' } }));
    expect(await limiter.used(hit)).toEqual({ minute: 1, day: 1 });
  });

  it('reads the clock after the lock: a hit that waits while a window ends counts in the next one', async () => {
    const hit = await limiter.account(1);
    await one.hit(hit);
    await limiter.sql('BEGIN');
    await limiter.sql(
      `UPDATE sluice.rate_limits SET minute_ends_ms = now_ms + 500, day_ends_ms = now_ms + 500
       FROM (SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now_ms) AS clock WHERE account_id = $1`,
      [hit.accountId],
    );
    const waiting = one.hit(hit);
    await limiter.sql('SELECT pg_sleep(0.7)');
    await limiter.sql('COMMIT');

    expect((await waiting).kind).toBe('admitted');
  });

  it('reads only the rows of the accounts it decides on, however few there were when its plans were made', async () => {
    const database = await limiter.connect();
    const rowsRead = (hits: readonly Hit[]) =>
      database.transaction(async (client) => {
        const sofar = async () => (await client.query<{ rows: number }>(ROWS_READ)).rows[0]?.rows ?? NaN;
        const before = await sofar();
        await client.query({ name: 'take-hits', text: TAKE_HITS, values: valuesOf(hits) });
        return (await sofar()) - before;
      });
    await limiter.sql('TRUNCATE sluice.rate_limits, sluice.offences, sluice.accounts CASCADE');
    await limiter.sql('VACUUM ANALYZE sluice.accounts, sluice.rate_limits');
    const hits: Hit[] = [];
    while (hits.length < 20) hits.push(await limiter.account(1_000));
    await rowsRead(hits.slice(0, 2));
    // Their ids come before: a merge join ends after the last account of the call.
    await limiter.sql(
      `INSERT INTO sluice.accounts (id, name, plan, per_minute, per_day, created_at)
       SELECT 'a_' || n, 'contract', 'enterprise', 10, 10, now() FROM generate_series(1, 10000) AS n`,
    );
    await limiter.sql('INSERT INTO sluice.rate_limits SELECT id FROM sluice.accounts ON CONFLICT DO NOTHING');

    expect(await rowsRead(hits)).toBeLessThan(10 * hits.length);
  });

  it('decides on the same accounts in opposite orders, without a deadlock', async () => {
    const other = await limiter.process();
    const hits: Hit[] = [];
    while (hits.length < 200) hits.push(await limiter.account(10));
    const backwards = [...hits].reverse();
    for (let round = 0; round < 5; round++) {
      const verdicts = await Promise.all([
        ...hits.map((hit) => one.hit(hit)),
        ...backwards.map((hit) => other.hit(hit)),
      ]);
      expect(new Set(verdicts.map(({ kind }) => kind))).toEqual(new Set(['admitted']));
    }
    const used = await limiter.sql(
      `SELECT minute_used AS minute, day_used AS day, count(*)::int AS accounts
       FROM sluice.rate_limits WHERE account_id = ANY ($1) GROUP BY minute_used, day_used`,
      [hits.map(({ accountId }) => accountId)],
    );
    expect(used).toEqual([{ minute: 10, day: 10, accounts: 200 }]);
  });

  it('deletes bans and strikes that have no effect any more, and no others', async () => {
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
    await (await PostgresBans.open(await limiter.connect())).deleteExpired();
    const left = await limiter.sql<{ key_id: string }>(
      "SELECT key_id FROM sluice.offences WHERE account_id = 'acct' ORDER BY key_id",
    );
    expect(left.map(({ key_id }) => key_id)).toEqual(Object.keys(offences).filter((name) => !name.startsWith('(')));
  });
});
