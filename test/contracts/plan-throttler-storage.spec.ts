import type { Hit, PlanThrottlerStorage } from '#rate-limiting/plan-throttler-storage.js';
import { Limiter, POLICY } from '../support/limiter.js';
import { InMemoryLimits, InMemoryPlanThrottlerStorage } from './fakes/in-memory-plan-throttler-storage.js';
import { describePlanThrottlerStorage, type PlanThrottlerSubject } from './plan-throttler-storage.contract.js';

function openInMemory(): Promise<PlanThrottlerSubject> {
  const limits = new InMemoryLimits();
  const accountOf = ({ accountId }: Hit) => {
    const account = limits.accounts.get(accountId);
    if (account === undefined) throw new Error('There is no such account.');
    return account;
  };
  return Promise.resolve({
    process: (policy) => Promise.resolve(new InMemoryPlanThrottlerStorage(limits, { ...POLICY, ...policy })),
    account: (perMinute, perDay = perMinute) => {
      const number = limits.accounts.size + 1;
      limits.add(`acct_${number}`, { perMinute, perDay });
      return Promise.resolve({ accountId: `acct_${number}`, keyId: `key_${number}`, epoch: 0, count: 1 });
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
    pass: (hit, ms) => {
      const account = accountOf(hit);
      const { minute, day } = account.windows;
      account.windows = {
        minute: { ...minute, endsAt: minute.endsAt - ms },
        day: { ...day, endsAt: day.endsAt - ms },
      };
      const offences = limits.offences.get(hit.keyId);
      if (offences !== undefined) {
        const { bannedAt, bannedUntil } = offences;
        limits.offences.set(hit.keyId, { ...offences, bannedAt: bannedAt - ms, bannedUntil: bannedUntil - ms });
      }
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
}

describePlanThrottlerStorage('InMemoryPlanThrottlerStorage', openInMemory);
describePlanThrottlerStorage('PostgresPlanThrottlerStorage', () => Limiter.open());

describe('PostgresPlanThrottlerStorage', () => {
  let limiter: Limiter;
  let one: PlanThrottlerStorage;

  beforeAll(async () => {
    limiter = await Limiter.open();
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
});
