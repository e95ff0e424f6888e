import type { BanPolicy } from '#rate-limiting/domain/ban-policy.js';
import type { Limits } from '#kernel/limits.js';
import { WINDOW_MS } from '#rate-limiting/domain/windows.js';
import type { Hit, Limiter, Verdict } from '#rate-limiting/application/limiter.js';

interface PlanThrottlerSubject {
  /** A further process with the same counters, which has cached nothing. Without a policy it bans no key of these tests. */
  process(policy?: Partial<BanPolicy>): Promise<Limiter>;
  /** An account that has used nothing, as a single hit of one of its keys; its epoch is 0. */
  account(perMinute: number, perDay?: number): Promise<Hit>;
  /** Changes an account, or its limits, and so its epoch. */
  change(hit: Hit, limits?: Limits): Promise<void>;
  used(hit: Hit): Promise<unknown>;
  /** Moves the windows and bans of an account and its key into the past. */
  pass(hit: Hit, ms: number): Promise<void>;
  close(): Promise<void>;
}

/** What every limiter guarantees. */
export function describeLimiter(name: string, open: () => Promise<PlanThrottlerSubject>): void {
  describe(name, () => {
    let subject: PlanThrottlerSubject;
    let one: Limiter;
    let other: Limiter;

    beforeAll(async () => {
      subject = await open();
      [one, other] = [await subject.process(), await subject.process()];
    });
    afterAll(() => subject.close());

    /** Hits of these counts at once, evenly through both processes. */
    const hitAll = async (hit: Hit, counts: readonly number[]) =>
      Promise.all(
        counts.map(async (count, n) => {
          const verdict = await (n % 2 === 0 ? one : other).hit({ ...hit, count });
          return { count, kind: verdict.kind, remaining: remaining(verdict) };
        }),
      );
    const remaining = (verdict: Verdict) =>
      verdict.kind === 'stale' ? [] : verdict.windows.map((window) => window.remaining);

    it.each([
      ['7 and 10', 100, Array.from({ length: 60 }, (_, n) => (n % 3 === 0 ? 10 : 7))],
      ['10 and 1', 50, [...Array<number>(10).fill(10), ...Array<number>(80).fill(1)]],
    ])('admits hits of %s all or nothing, as long as they fit', async (_name, limit, counts) => {
      const hit = await subject.account(limit);
      const outcomes = await hitAll(hit, counts);
      const admitted = outcomes.filter(({ kind }) => kind === 'admitted');
      const used = admitted.reduce((sum, { count }) => sum + count, 0);

      expect(used).toBeLessThanOrEqual(limit);
      expect(await subject.used(hit)).toEqual({ minute: used, day: used });
      for (const { kind, count } of outcomes) if (kind !== 'admitted') expect(count).toBeGreaterThan(limit - used);
      // In descending order, each remainder is exactly the count of its hit less than the one before.
      const remainders = admitted.map(({ count, remaining: [minute = NaN] }) => ({ count, minute }));
      let before = limit;
      for (const { count, minute } of remainders.sort((a, b) => b.minute - a.minute)) {
        expect(minute).toBe(before - count);
        before = minute;
      }
    });

    it('reports that nothing remains for a larger hit in the windows that refuse it', async () => {
      const hit = await subject.account(10, 20);
      const outcomes = [];
      for (const count of [7, 4, 3]) outcomes.push(...(await hitAll(hit, [count])));
      expect(outcomes).toEqual([
        { count: 7, kind: 'admitted', remaining: [3, 13] },
        { count: 4, kind: 'refused', remaining: [0, 13] },
        { count: 3, kind: 'admitted', remaining: [0, 10] },
      ]);
    });

    it('counts nothing for a key that was looked up before something changed', async () => {
      const hit = await subject.account(10);
      await subject.change(hit);
      const outcomes = await hitAll(hit, [1, 1, 5]);

      expect(outcomes.map(({ kind }) => kind)).toEqual(['stale', 'stale', 'stale']);
      expect(await subject.used(hit)).toEqual({ minute: 0, day: 0 });
      expect((await one.hit({ ...hit, epoch: 1 })).kind).toBe('admitted');
      expect((await one.hit({ ...hit, accountId: 'acct_none' })).kind).toBe('stale');
    });

    it('applies new limits at once when the key was looked up again', async () => {
      const hit = await subject.account(1);
      for (const kind of ['admitted', 'refused', 'refused']) expect((await one.hit(hit)).kind).toBe(kind);
      await subject.change(hit, { perMinute: 9, perDay: 9 });

      expect((await one.hit({ ...hit, epoch: 1 })).kind).toBe('admitted');
    });

    it('reports what an account has used, and the windows that a process has seen last', async () => {
      const hit = await subject.account(10, 20);
      expect(one.lastKnownWindows(hit.accountId)).toBeNull();
      await one.hit({ ...hit, count: 7 });
      expect((await one.hit({ ...hit, count: 4 })).kind).toBe('refused');
      const { limits, windows, at } = await other.usage(hit.accountId);
      expect([limits.perMinute, limits.perDay, windows.minute.used, windows.day.used]).toEqual([10, 20, 7, 7]);
      expect(windows.minute.endsAt - at).toBeGreaterThan(0);
      expect(windows.minute.endsAt - at).toBeLessThanOrEqual(60_000);
      expect(one.lastKnownWindows(hit.accountId)?.map((window) => window.limit)).toEqual([10, 20]);
    });

    it('deletes windows that ended a day ago, and no others', async () => {
      const hits = [await subject.account(5), await subject.account(5), await subject.account(5)] as const;
      for (const hit of hits) await one.hit(hit);
      await subject.pass(hits[0], 2 * WINDOW_MS.day + 60_000);
      await subject.pass(hits[1], 2 * WINDOW_MS.day - 60_000);
      await other.deleteExpired();
      const used = [];
      for (const hit of hits) used.push(await subject.used(hit));
      expect(used).toEqual([
        { minute: 0, day: 0 },
        { minute: 1, day: 1 },
        { minute: 1, day: 1 },
      ]);
      expect(remaining(await other.hit(hits[0]))).toEqual([4, 4]);
    });

    it('admits exactly the limit of accounts whose windows are being deleted', async () => {
      const hits: Hit[] = [];
      for (let count = 0; count < 20; count++) hits.push(await subject.account(3));
      for (const hit of hits) await one.hit(hit);
      for (const hit of hits) await subject.pass(hit, 3 * WINDOW_MS.day);
      const outcomes = hits.map((hit) => hitAll(hit, Array<number>(10).fill(1)));
      for (let round = 0; round < 5; round++) await Promise.all([one.deleteExpired(), other.deleteExpired()]);
      const admitted = (await Promise.all(outcomes)).map((all) => all.filter(({ kind }) => kind === 'admitted').length);
      expect(admitted).toEqual(hits.map(() => 3));
    });

    it('bans a key that continues, and counts nothing for it', async () => {
      const policy = { graceMs: 0, afterRefusals: 1, banMs: 600_000, maxBanMs: 2_000_000 };
      const hit = await subject.account(1, 2);
      const process = await subject.process(policy);
      expect((await process.hit(hit)).kind).toBe('admitted');
      const banned = await process.hit(hit);
      expect(banned.kind === 'banned' && Math.round(banned.retryInMs / 1_000)).toBe(600);
      await subject.pass(hit, WINDOW_MS.minute);
      expect((await hitAll(hit, [1, 5])).map(({ kind }) => kind)).toEqual(['banned', 'banned']);
      expect((await other.usage(hit.accountId)).windows.minute.used).toBe(0);
    });
  });
}
