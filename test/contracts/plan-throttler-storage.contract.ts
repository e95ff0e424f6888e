import type { Hit, PlanThrottlerStorage, Verdict } from '#rate-limiting/plan-throttler-storage.js';

export interface LimitsOfAnAccount {
  readonly perMinute: number;
  readonly perDay: number;
}

export interface BansOfASubject {
  readonly afterRefusals: number;
  readonly banMs: number;
  readonly maxBanMs: number;
}

export interface PlanThrottlerSubject {
  /** Two processes with the same counters, in which nobody is banned so soon as in these tests. */
  readonly one: PlanThrottlerStorage;
  readonly other: PlanThrottlerStorage;
  /** A further process, which remembers nothing yet, with no grace. */
  process(bans: BansOfASubject): Promise<PlanThrottlerStorage>;
  /** An account that has used nothing, as a single hit of a key of its; its epoch is 0. */
  account(perMinute: number, perDay?: number): Promise<Hit>;
  /** Changes something about an account, or its limits: its epoch is one more. */
  change(hit: Hit, limits?: LimitsOfAnAccount): Promise<void>;
  used(hit: Hit): Promise<unknown>;
  /** Has an account have used nothing. */
  empty(hit: Hit): Promise<void>;
  /** Lets the windows of an account end so much earlier. */
  ageWindows(hit: Hit, ms: number): Promise<void>;
  /** Lets the bans of a key be so much longer ago. */
  age(hit: Hit, ms: number): Promise<void>;
  close(): Promise<void>;
}

/** What every limiter guarantees. */
export function describePlanThrottlerStorage(name: string, open: () => Promise<PlanThrottlerSubject>): void {
  describe(name, () => {
    let subject: PlanThrottlerSubject;
    beforeAll(async () => {
      subject = await open();
    });
    afterAll(() => subject.close());

    /** Hits of these counts at once, evenly through both processes. */
    const hitAll = async (hit: Hit, counts: readonly number[]) => {
      const verdicts = counts.map((count, n) => (n % 2 === 0 ? subject.one : subject.other).hit({ ...hit, count }));
      return (await Promise.all(verdicts)).map((verdict, n) => ({
        count: counts[n] ?? 0,
        kind: verdict.kind,
        verdict,
      }));
    };
    const windows = (verdict: Verdict) =>
      verdict.kind === 'stale' ? [] : verdict.windows.map(({ name, limit, remaining }) => [name, limit, remaining]);

    it('admits hits of 7 and 10 all or nothing, as long as they fit', async () => {
      const hit = await subject.account(100, 1_000);
      const counts = Array.from({ length: 60 }, (_, n) => (n % 3 === 0 ? 10 : 7));
      const outcomes = await hitAll(hit, counts);
      const admitted = outcomes.filter(({ kind }) => kind === 'admitted');
      const used = admitted.reduce((sum, { count }) => sum + count, 0);

      expect(used).toBeLessThanOrEqual(100);
      expect(await subject.used(hit)).toEqual({ minute: used, day: used });
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
    it('forgets windows that ended a day ago, and no others', async () => {
      const day = 86_400_000;
      const [old, recent, open] = [await subject.account(5), await subject.account(5), await subject.account(5)];
      for (const hit of [old, recent, open]) await subject.one.hit(hit);
      await subject.ageWindows(old, 2 * day + 60_000);
      await subject.ageWindows(recent, 2 * day - 60_000);
      await subject.other.deleteExpired();
      expect(await Promise.all([old, recent, open].map((hit) => subject.used(hit)))).toEqual([
        { minute: 0, day: 0 },
        { minute: 1, day: 1 },
        { minute: 1, day: 1 },
      ]);
      const again = await subject.other.hit(old);
      expect(windows(again).map(([, , remaining]) => remaining)).toEqual([4, 4]);
    });
    it('admits exactly the limit of accounts whose windows are being forgotten', async () => {
      const hits = await Promise.all(Array.from({ length: 20 }, () => subject.account(3)));
      for (const hit of hits) await subject.one.hit(hit);
      for (const hit of hits) await subject.ageWindows(hit, 3 * 86_400_000);
      const both = [subject.one, subject.other];
      const outcomes = hits.map((hit) => hitAll(hit, Array<number>(10).fill(1)));
      for (let round = 0; round < 5; round++) await Promise.all(both.map((storage) => storage.deleteExpired()));
      const admitted = (await Promise.all(outcomes)).map(
        (some) => some.filter(({ kind }) => kind === 'admitted').length,
      );
      expect(admitted).toEqual(hits.map(() => 3));
    });
    it('lets single hits have what larger ones leave', async () => {
      const hit = await subject.account(50);
      const outcomes = await hitAll(hit, [...Array<number>(10).fill(10), ...Array<number>(80).fill(1)]);
      const used = outcomes.reduce((sum, { kind, count }) => sum + (kind === 'admitted' ? count : 0), 0);

      expect(used).toBe(50);
      expect(await subject.used(hit)).toEqual({ minute: 50, day: 50 });
    });
    it('says of a larger hit that nothing remains for it, in the windows that refuse it', async () => {
      const hit = await subject.account(10, 20);
      expect(windows(await subject.one.hit({ ...hit, count: 7 }))).toEqual([
        ['minute', 10, 3],
        ['day', 20, 13],
      ]);
      const refused = await subject.one.hit({ ...hit, count: 4 });

      expect(refused).toMatchObject({ kind: 'refused' });
      expect(windows(refused)).toEqual([
        ['minute', 10, 0],
        ['day', 20, 13],
      ]);
      expect(windows(await subject.one.hit({ ...hit, count: 3 }))).toEqual([
        ['minute', 10, 0],
        ['day', 20, 10],
      ]);
    });
    it('counts nothing for a key that was looked up before something changed', async () => {
      const hit = await subject.account(10);
      await subject.change(hit);
      const outcomes = await hitAll(hit, [1, 1, 5]);

      expect(outcomes.map(({ kind }) => kind)).toEqual(['stale', 'stale', 'stale']);
      expect(await subject.used(hit)).toEqual({ minute: 0, day: 0 });
      expect((await hitAll({ ...hit, epoch: 1 }, [1]))[0]?.kind).toBe('admitted');
      expect((await hitAll({ ...hit, accountId: 'acct_none' }, [1]))[0]?.kind).toBe('stale');
    });
    it('asks anew after a refusal when the key was looked up anew', async () => {
      const hit = await subject.account(1);
      for (const kind of ['admitted', 'refused', 'refused']) expect((await subject.one.hit(hit)).kind).toBe(kind);
      await subject.change(hit, { perMinute: 9, perDay: 9 });

      expect((await subject.one.hit({ ...hit, epoch: 1 })).kind).toBe('admitted');
    });
    it('tells what an account has used, and what it was told last', async () => {
      const hit = await subject.account(10, 20);
      expect(subject.one.lastKnownWindows(hit.accountId)).toBeNull();
      await subject.one.hit({ ...hit, count: 7 });
      expect((await subject.one.hit({ ...hit, count: 4 })).kind).toBe('refused');
      const { limits, windows, at } = await subject.other.usage(hit.accountId);
      expect([limits.perMinute, limits.perDay, windows.minute.used, windows.day.used]).toEqual([10, 20, 7, 7]);
      expect(windows.minute.endsAt - at).toBeGreaterThan(0);
      expect(windows.minute.endsAt - at).toBeLessThanOrEqual(60_000);
      expect(subject.one.lastKnownWindows(hit.accountId)?.map((window) => window.limit)).toEqual([10, 20]);
    });

    describe('with bans', () => {
      const ban = { afterRefusals: 1, banMs: 10_000, maxBanMs: 60_000 };
      /** For how many seconds the next refusal bans, told by a process that remembers nothing. */
      const nextBan = async (hit: Hit) => {
        const verdict = await (await subject.process(ban)).hit(hit);
        return verdict.kind === 'banned' ? Math.round(verdict.retryInMs / 1_000) : verdict.kind;
      };
      const full = async () => {
        const hit = await subject.account(1);
        await hitAll(hit, [1]);
        return hit;
      };

      it('doubles them within 24 hours, up to the longest', async () => {
        const hit = await full();
        const bans: unknown[] = [];
        for (let count = 0; count < 5; count++) {
          bans.push(await nextBan(hit));
          await subject.age(hit, 3_600_000);
        }
        expect(bans).toEqual([10, 20, 40, 60, 60]);
      });

      it('begins with a short one again when the last was more than 24 hours ago', async () => {
        const hit = await full();
        expect(await nextBan(hit)).toBe(10);
        await subject.age(hit, 86_000_000);
        expect(await nextBan(hit)).toBe(20);
        await subject.age(hit, 86_400_000);
        expect(await nextBan(hit)).toBe(10);
      });

      it('refuses a banned key whatever it asks for, and counts nothing', async () => {
        const hit = await full();
        await nextBan(hit);
        await subject.empty(hit);
        const verdicts = await Promise.all([hit, { ...hit, count: 5 }].map((hits) => subject.other.hit(hits)));

        expect(verdicts.map((verdict) => verdict.kind)).toEqual(['banned', 'banned']);
        expect(await subject.used(hit)).toEqual({ minute: 0, day: 0 });
      });
    });
  });
}
