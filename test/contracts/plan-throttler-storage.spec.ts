import type { Hit, PlanThrottlerStorage, Verdict } from '#rate-limiting/plan-throttler-storage.js';
import { Limiter } from '../support/limiter.js';

describe('PlanThrottlerStorage', () => {
  let limiter: Limiter;
  let one: PlanThrottlerStorage;
  let other: PlanThrottlerStorage;

  beforeAll(async () => {
    limiter = await Limiter.open();
    [one, other] = [await limiter.process(), await limiter.process()];
  });
  afterAll(() => limiter.close());

  /** Hits of these counts at once, evenly through both processes. */
  const hitAll = async (hit: Hit, counts: readonly number[]) => {
    const verdicts = counts.map((count, n) => (n % 2 === 0 ? one : other).hit({ ...hit, count }));
    return (await Promise.all(verdicts)).map((verdict, n) => ({ count: counts[n] ?? 0, kind: verdict.kind, verdict }));
  };
  const windows = (verdict: Verdict) =>
    verdict.kind === 'stale' ? [] : verdict.windows.map(({ name, limit, remaining }) => [name, limit, remaining]);

  it('admits hits of 7 and 10 all or nothing, as long as they fit', async () => {
    const hit = await limiter.account(100, 1_000);
    const counts = Array.from({ length: 60 }, (_, n) => (n % 3 === 0 ? 10 : 7));
    const outcomes = await hitAll(hit, counts);
    const admitted = outcomes.filter(({ kind }) => kind === 'admitted');
    const used = admitted.reduce((sum, { count }) => sum + count, 0);

    expect(used).toBeLessThanOrEqual(100);
    expect(await limiter.used(hit)).toEqual({ minute: used, day: used });
    for (const { kind, count } of outcomes) if (kind !== 'admitted') expect(count).toBeGreaterThan(100 - used);
    // In the order of what remained, each is told exactly its own count less than the one before.
    const told = admitted
      .map(({ count, verdict }) => ({ count, remaining: Number(windows(verdict)[0]?.[2]) }))
      .sort((a, b) => b.remaining - a.remaining);
    told.reduce((before, { count, remaining }) => {
      expect(remaining).toBe(before - count);
      return remaining;
    }, 100);
  });

  it('lets single hits have what larger ones leave', async () => {
    const hit = await limiter.account(50);
    const outcomes = await hitAll(hit, [...Array<number>(10).fill(10), ...Array<number>(80).fill(1)]);
    const used = outcomes.reduce((sum, { kind, count }) => sum + (kind === 'admitted' ? count : 0), 0);

    expect(used).toBe(50);
    expect(await limiter.used(hit)).toEqual({ minute: 50, day: 50 });
  });

  it('says of a larger hit that nothing remains for it, in the windows that refuse it', async () => {
    const hit = await limiter.account(10, 20);
    expect(windows(await one.hit({ ...hit, count: 7 }))).toEqual([
      ['minute', 10, 3],
      ['day', 20, 13],
    ]);
    const refused = await one.hit({ ...hit, count: 4 });

    expect(refused).toMatchObject({ kind: 'refused' });
    expect(windows(refused)).toEqual([
      ['minute', 10, 0],
      ['day', 20, 13],
    ]);
    expect(windows(await one.hit({ ...hit, count: 3 }))).toEqual([
      ['minute', 10, 0],
      ['day', 20, 10],
    ]);
  });

  it('counts nothing for a key that was looked up before something changed', async () => {
    const hit = await limiter.account(10);
    await limiter.sql('UPDATE sluice.accounts SET epoch = 1 WHERE id = $1', [hit.accountId]);
    const outcomes = await hitAll(hit, [1, 1, 5]);

    expect(outcomes.map(({ kind }) => kind)).toEqual(['stale', 'stale', 'stale']);
    expect(await limiter.used(hit)).toEqual({ minute: 0, day: 0 });
    expect((await hitAll({ ...hit, epoch: 1 }, [1]))[0]?.kind).toBe('admitted');
    expect((await hitAll({ ...hit, accountId: 'acct_none' }, [1]))[0]?.kind).toBe('stale');
  });

  it('asks anew after a refusal when the key was looked up anew', async () => {
    const hit = await limiter.account(1);
    for (const kind of ['admitted', 'refused', 'refused']) expect((await one.hit(hit)).kind).toBe(kind);
    await limiter.sql('UPDATE sluice.accounts SET per_minute = 9, per_day = 9 WHERE id = $1', [hit.accountId]);

    expect((await one.hit({ ...hit, epoch: 1 })).kind).toBe('admitted');
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
    await hitAll(hit, [1]);
    await limiter.sql('BEGIN');
    await limiter.sql('SELECT FROM sluice.rate_limits WHERE account_id = $1 FOR UPDATE', [hit.accountId]);
    const outcomes = await Promise.allSettled([1, 1, 3].map((count) => one.hit({ ...hit, count })));
    await limiter.sql('ROLLBACK');

    expect(outcomes).toMatchObject(Array(3).fill({ status: 'rejected', reason: { code: 'unavailable' } }));
    expect(await limiter.used(hit)).toEqual({ minute: 1, day: 1 });
  });

  it('reads the clock when its turn has come: who waits while a window ends counts in the next one', async () => {
    const hit = await limiter.account(1);
    await hitAll(hit, [1]);
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
    await hitAll(hit, [1]);
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

  describe('with bans', () => {
    const ban = { afterRefusals: 1, banMs: 10_000, maxBanMs: 60_000 };
    /** For how many seconds the next refusal bans, told by a process that remembers nothing. */
    const nextBan = async (hit: Hit) => {
      const verdict = await (await limiter.process(ban)).hit(hit);
      return verdict.kind === 'banned' ? Math.round(verdict.retryInMs / 1_000) : verdict.kind;
    };
    const shift = (hit: Hit, ms: number) =>
      limiter.sql(
        `UPDATE sluice.offences SET banned_at_ms = banned_at_ms - $2, banned_until_ms = banned_until_ms - $2
         WHERE key_id = $1`,
        [hit.keyId, ms],
      );
    const full = async () => {
      const hit = await limiter.account(1);
      await hitAll(hit, [1]);
      return hit;
    };

    it('doubles them within 24 hours, up to the longest', async () => {
      const hit = await full();
      const bans: unknown[] = [];
      for (let count = 0; count < 5; count++) {
        bans.push(await nextBan(hit));
        await shift(hit, 3_600_000);
      }
      expect(bans).toEqual([10, 20, 40, 60, 60]);
    });

    it('begins with a short one again when the last was more than 24 hours ago', async () => {
      const hit = await full();
      expect([await nextBan(hit), await shift(hit, 86_000_000), await nextBan(hit)]).toEqual([10, [], 20]);
      expect([await shift(hit, 86_400_000), await nextBan(hit)]).toEqual([[], 10]);
    });

    it('refuses a banned key whatever it asks for, and counts nothing', async () => {
      const hit = await full();
      await nextBan(hit);
      await limiter.sql('UPDATE sluice.rate_limits SET minute_used = 0, day_used = 0 WHERE account_id = $1', [
        hit.accountId,
      ]);
      const verdicts = await Promise.all([hit, { ...hit, count: 5 }].map((hits) => other.hit(hits)));

      expect(verdicts.map((verdict) => verdict.kind)).toEqual(['banned', 'banned']);
      expect(await limiter.used(hit)).toEqual({ minute: 0, day: 0 });
    });
  });
});
