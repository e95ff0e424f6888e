import type { Hit, PlanThrottlerStorage } from '#rate-limiting/plan-throttler-storage.js';
import { Limiter } from '../support/limiter.js';
import { InMemoryLimits, InMemoryPlanThrottlerStorage, newAccount } from './fakes/in-memory-plan-throttler-storage.js';
import { describePlanThrottlerStorage, type PlanThrottlerSubject } from './plan-throttler-storage.contract.js';

const POLICY = { graceMs: 0, afterRefusals: 30, banMs: 60_000, maxBanMs: 3_600_000 };

function openInMemory(): Promise<PlanThrottlerSubject> {
  const limits = new InMemoryLimits();
  const process = (policy = POLICY) => new InMemoryPlanThrottlerStorage(limits, policy);
  const accountOf = ({ accountId }: Hit) => {
    const account = limits.accounts.get(accountId);
    if (account === undefined) throw new Error('There is no such account.');
    return account;
  };
  return Promise.resolve({
    one: process(),
    other: process(),
    process: (bans) => Promise.resolve(process({ ...POLICY, ...bans })),
    account: (perMinute, perDay = perMinute) => {
      const count = limits.accounts.size + 1;
      limits.accounts.set(`acct_${count}`, newAccount({ perMinute, perDay }));
      return Promise.resolve({ accountId: `acct_${count}`, keyId: `key_${count}`, epoch: 0, count: 1 });
    },
    change: (hit, changed) => {
      const account = accountOf(hit);
      account.limits = changed ?? account.limits;
      account.epoch++;
      return Promise.resolve();
    },
    used: (hit) => {
      const { minute, day } = accountOf(hit).windows;
      return Promise.resolve({ minute: minute.used, day: day.used });
    },
    empty: (hit) => {
      const account = accountOf(hit);
      const { minute, day } = account.windows;
      account.windows = { minute: { ...minute, used: 0 }, day: { ...day, used: 0 } };
      return Promise.resolve();
    },
    ageWindows: (hit, ms) => {
      const account = accountOf(hit);
      const { minute, day } = account.windows;
      account.windows = {
        minute: { ...minute, endsAt: minute.endsAt - ms },
        day: { ...day, endsAt: day.endsAt - ms },
      };
      return Promise.resolve();
    },
    age: ({ keyId }, ms) => {
      const offence = limits.offences.get(keyId);
      if (offence !== undefined) {
        offence.bannedAt -= ms;
        offence.bannedUntil -= ms;
      }
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
}

async function openOnPostgres(): Promise<PlanThrottlerSubject> {
  const limiter = await Limiter.open();
  return {
    one: await limiter.process(),
    other: await limiter.process(),
    process: (bans) => limiter.process(bans),
    account: (perMinute, perDay) => limiter.account(perMinute, perDay),
    change: async ({ accountId }, limits) => {
      // A trigger moves the epoch when limits change.
      const [set, values] = limits
        ? ['per_minute = $2, per_day = $3', [limits.perMinute, limits.perDay]]
        : ['epoch = epoch + 1', []];
      await limiter.sql(`UPDATE sluice.accounts SET ${set} WHERE id = $1`, [accountId, ...values]);
    },
    used: async (hit) => (await limiter.used(hit)) ?? { minute: 0, day: 0 },
    empty: async ({ accountId }) => {
      await limiter.sql('UPDATE sluice.rate_limits SET minute_used = 0, day_used = 0 WHERE account_id = $1', [
        accountId,
      ]);
    },
    ageWindows: async ({ accountId }, ms) => {
      await limiter.sql(
        `UPDATE sluice.rate_limits SET minute_ends_ms = minute_ends_ms - $2, day_ends_ms = day_ends_ms - $2
         WHERE account_id = $1`,
        [accountId, ms],
      );
    },
    age: async ({ keyId }, ms) => {
      await limiter.sql(
        `UPDATE sluice.offences SET banned_at_ms = banned_at_ms - $2, banned_until_ms = banned_until_ms - $2
         WHERE key_id = $1`,
        [keyId, ms],
      );
    },
    close: () => limiter.close(),
  };
}

describePlanThrottlerStorage('InMemoryPlanThrottlerStorage', openInMemory);
describePlanThrottlerStorage('PostgresPlanThrottlerStorage', openOnPostgres);

describe('PostgresPlanThrottlerStorage', () => {
  let limiter: Limiter;
  let one: PlanThrottlerStorage;

  beforeAll(async () => {
    limiter = await Limiter.open();
    one = await limiter.process();
  });
  afterAll(() => limiter.close());

  it('forgets windows in steps, however many there are, and leaves alone what is in use', async () => {
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
  it('loses no strikes of a key when something changes meanwhile', async () => {
    const hit = await limiter.account(1);
    for (const kind of ['admitted', 'refused', 'refused', 'refused']) expect((await one.hit(hit)).kind).toBe(kind);
    await limiter.sql('UPDATE sluice.accounts SET per_minute = 9, per_day = 9 WHERE id = $1', [hit.accountId]);
    expect((await one.hit({ ...hit, epoch: 2 })).kind).toBe('stale');

    const rows = await limiter.sql('SELECT strikes FROM sluice.offences WHERE key_id = $1', [hit.keyId]);
    expect(rows).toEqual([{ strikes: 3 }]);
  });
  it('is unavailable, and admits nothing, while something holds its counters', async () => {
    const hit = await limiter.account(10);
    await one.hit(hit);
    await limiter.sql('BEGIN');
    await limiter.sql('SELECT FROM sluice.rate_limits WHERE account_id = $1 FOR UPDATE', [hit.accountId]);
    const outcomes = await Promise.allSettled([1, 1, 3].map((count) => one.hit({ ...hit, count })));
    await limiter.sql('ROLLBACK');

    expect(outcomes).toMatchObject(Array(3).fill({ status: 'rejected', reason: { code: 'unavailable' } }));
    expect(await limiter.used(hit)).toEqual({ minute: 1, day: 1 });
  });
  it('reads the clock when its turn has come: who waits while a window ends counts in the next one', async () => {
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
  it('gives a caller who is refused an end that stands still after the clock went back', async () => {
    const hit = await limiter.account(1);
    await one.hit(hit);
    await limiter.sql(
      `UPDATE sluice.rate_limits SET minute_ends_ms = minute_ends_ms + 3600000, day_ends_ms = day_ends_ms + 3600000
       WHERE account_id = $1`,
      [hit.accountId],
    );
    expect((await one.hit(hit)).kind).toBe('refused');
    const [row] = await limiter.sql<{ left: number }>(
      `SELECT (minute_ends_ms - extract(epoch FROM clock_timestamp()) * 1000)::float8 AS left
       FROM sluice.rate_limits WHERE account_id = $1`,
      [hit.accountId],
    );
    expect(row?.left).toBeLessThanOrEqual(60_000);
  });
});
