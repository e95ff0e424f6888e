import type { HitOutcome } from '../domain/decide-hit.js';
import type { Hit } from './limiter.js';
import { RefusalCache } from './refusal-cache.js';

const HIT: Hit = { accountId: 'acct_1', keyId: 'key_1', epoch: 0, count: 1 };
const OTHER: Hit = { ...HIT, keyId: 'key_2' };

/** The outcome when the minute is full. */
const FULL: HitOutcome = {
  ...{ admitted: 0, perMinute: 60, perDay: 1_000 },
  ...{ minuteUsed: 60, minuteLeftMs: 30_000, dayUsed: 60, dayLeftMs: 80_000_000 },
  ...{ strikes: 0, banAfter: 30, strikesInMs: 2_000, spared: 1, banLeftMs: 0 },
};
const STRIKING: HitOutcome = { ...FULL, strikesInMs: 0 };

describe('RefusalCache', () => {
  let cache: RefusalCache;

  beforeEach(() => {
    cache = new RefusalCache();
  });

  const kind = (hit: Hit, now: number) => {
    const verdict = cache.recall(hit, now);
    if (verdict === null) cache.startRecheck(hit, now);
    return verdict?.kind ?? 'ask';
  };
  const kinds = (hit: Hit, ...moments: number[]) => moments.map((now) => kind(hit, now));
  /** Hits until one needs the store. */
  const recalled = (hit: Hit, now: number) => {
    let count = 0;
    while (cache.recall(hit, now) !== null) count++;
    return count;
  };

  it('knows nothing of an account that was not refused', () => {
    expect(kinds(HIT, 0)).toEqual(['ask']);
    cache.update(HIT, { ...FULL, admitted: 1, minuteUsed: 59 }, false, 0);
    expect(kinds(HIT, 1)).toEqual(['ask']);
  });

  it('refuses for less than a second, then asks the store once', () => {
    cache.update(HIT, FULL, true, 1_000);
    expect(kinds(HIT, 1_001, 1_899, 1_900, 1_901, 2_799, 2_800)).toEqual([
      ...['refused', 'refused', 'ask', 'refused', 'refused', 'ask'],
    ]);
  });

  it.each([
    ['a window', FULL, 'refused'],
    ['a ban', { ...FULL, banLeftMs: 60_000 }, 'banned'],
  ])('refuses nothing by %s that was decided before a pause of the caller', (_what, outcome, kindThen) => {
    cache.update(HIT, outcome, true, 0);
    expect(kinds(HIT, 999, 999)).toEqual(['ask', kindThen]);
    cache.update(HIT, outcome, true, 1_000);
    expect(kinds(HIT, 2_000, 2_000, 2_500, 9_000)).toEqual(['ask', 'ask', 'ask', 'ask']);
    cache.update(HIT, outcome, true, 9_000);
    expect(kinds(HIT, 9_001)).toEqual([kindThen]);
  });

  it('refuses until the window ends, with the time that is left of it', () => {
    cache.update(HIT, { ...FULL, minuteLeftMs: 800 }, true, 0);
    const verdict = cache.recall(HIT, 300);

    expect(verdict).toMatchObject({ kind: 'refused', retryInMs: 500 });
    expect(verdict?.kind === 'refused' && verdict.windows[0]).toMatchObject({ remaining: 0, resetsAt: 800 });
    expect(kinds(HIT, 799, 800)).toEqual(['refused', 'ask']);
  });

  it('remembers no keys that are admitted, nor those whose window has ended', () => {
    const admitted = { ...FULL, admitted: 1, minuteUsed: 59 };
    const hitBy = (index: number): Hit => ({ ...HIT, keyId: `key_${index}` });
    const accounts = Reflect.get(cache, 'accounts') as ReadonlyMap<string, { keys: ReadonlyMap<string, unknown> }>;
    const remembered = () => accounts.get(HIT.accountId)?.keys.size;
    for (let index = 0; index < 50; index++) cache.update(hitBy(index), FULL, true, 0);
    expect(remembered()).toBe(50);
    for (let index = 50; index < 100; index++) cache.update(hitBy(index), admitted, false, 30_000);
    expect(remembered()).toBe(50);
    cache.update(hitBy(100), FULL, true, 30_000);
    expect(remembered()).toBe(1);
  });

  it('leaves larger hits to the store', () => {
    cache.update(HIT, FULL, true, 0);
    expect(kinds({ ...HIT, count: 7 }, 1)).toEqual(['ask']);
    expect(kinds({ ...HIT, retried: 2 }, 1)).toEqual(['ask']);
  });

  it('refuses only in the epoch of the outcome, so that a change of the plan is seen at once', () => {
    cache.update(HIT, FULL, true, 0);
    expect(kinds({ ...HIT, epoch: 1 }, 1)).toEqual(['ask']);
    expect(kinds(HIT, 1)).toEqual(['refused']);
  });

  it('leaves the first refusal of each key in each window to the store, which begins its grace', () => {
    cache.update(HIT, STRIKING, true, 0);
    cache.update(OTHER, STRIKING, true, 0);
    expect(kinds({ ...HIT, keyId: 'key_3' }, 1)).toEqual(['ask']);

    cache.update(HIT, FULL, true, 31_000);
    expect(kinds(OTHER, 31_001)).toEqual(['ask']);
    expect(kinds(HIT, 31_001)).toEqual(['refused']);
  });

  it('stops refusing once the store has admitted another key', () => {
    cache.update(HIT, FULL, true, 0);
    cache.update(OTHER, { ...FULL, admitted: 1, minuteUsed: 1, dayUsed: 61 }, false, 10);
    expect(kinds(HIT, 11)).toEqual(['ask']);
  });

  it('counts no strike within the grace, and all after it', () => {
    cache.update(HIT, FULL, true, 0);
    kinds(HIT, 100, 200, 300);
    expect(cache.takeAllStrikes()).toEqual([]);

    cache.update(HIT, { ...FULL, strikesInMs: 100 }, true, 1_900);
    kinds(HIT, 1_999, 2_000, 2_001);
    expect(cache.takeAllStrikes()).toEqual([{ accountId: 'acct_1', keyId: 'key_1', count: 2 }]);
    expect(cache.takeAllStrikes()).toEqual([]);
  });

  it('leaves the strike that causes the ban to the store, whatever it knew and was reported meanwhile', () => {
    cache.update(HIT, { ...STRIKING, strikes: 10 }, true, 0);
    kinds(HIT, 1, 2, 3);
    expect(cache.takeStrikes('acct_1')).toMatchObject([{ count: 3 }]);
    expect(recalled(HIT, 4)).toBe(30 - 10 - 3 - 1);
  });

  it('returns overdue strikes once, and no others', () => {
    cache.update(HIT, STRIKING, true, 0);
    cache.update(OTHER, STRIKING, true, 0);
    kinds(HIT, 10, 11);
    kinds(OTHER, 500);

    expect(cache.takeOverdueStrikes(959)).toEqual([]);
    expect(cache.takeOverdueStrikes(960)).toEqual([{ accountId: 'acct_1', keyId: 'key_1', count: 2 }]);
    expect(cache.takeStrikes('acct_1')).toEqual([{ accountId: 'acct_1', keyId: 'key_2', count: 1 }]);
    expect(cache.takeOverdueStrikes(10_000)).toEqual([]);
  });

  it('is not fresher because strikes were reported', () => {
    cache.update(HIT, STRIKING, true, 0);
    cache.updateKey(HIT, { ...STRIKING, strikes: 5 }, 800);
    expect(kinds(HIT, 899, 900)).toEqual(['refused', 'ask']);
  });

  it('refuses a banned key until the ban ends, and asks the store once a second whether it was lifted', () => {
    cache.update(HIT, { ...FULL, banLeftMs: 1_500 }, false, 0);
    expect(cache.recall(HIT, 500)).toMatchObject({ kind: 'banned', retryInMs: 1_000 });
    expect(kinds(HIT, 900, 901, 1_499)).toEqual(['ask', 'banned', 'banned']);
    cache.update(HIT, { ...FULL, minuteUsed: 0, dayUsed: 0 }, false, 1_500);
    expect(kinds(HIT, 1_501)).toEqual(['ask']);
  });

  it.each([
    ['a ban', { ...FULL, banLeftMs: 60_000 }, 'banned'],
    ['a window', FULL, 'refused'],
  ])(
    'asks the store again about %s when the hit that should have rechecked it was stale',
    (_name, outcome, kindBefore) => {
      const renewed = { ...HIT, epoch: 1 };
      cache.update(HIT, outcome, true, 0);
      expect(kinds(HIT, 1, 900)).toEqual([kindBefore, 'ask']);
      cache.update({ ...OTHER, epoch: 1 }, { ...outcome, banLeftMs: 0 }, true, 901);
      cache.abandonRecheck(HIT);
      expect(kinds(renewed, 902, 903)).toEqual(['ask', 'ask']);
    },
  );

  it('refuses a key that late strikes have banned', () => {
    cache.update(HIT, STRIKING, true, 0);
    cache.updateKey(HIT, { ...STRIKING, banLeftMs: 60_000 }, 100);
    expect(kinds(HIT, 101)).toEqual(['banned']);
  });

  it('refuses no other key for a ban', () => {
    cache.update(HIT, { ...FULL, minuteUsed: 0, banLeftMs: 60_000 }, false, 0);
    expect(kinds(OTHER, 1)).toEqual(['ask']);
  });

  it('knows the last windows of an account', () => {
    expect(cache.lastKnownWindows('acct_1')).toBeNull();
    cache.update(HIT, { ...FULL, admitted: 1, minuteUsed: 20 }, false, 10_000);
    expect(cache.lastKnownWindows('acct_1')).toEqual([
      { name: 'minute', windowSeconds: 60, limit: 60, remaining: 40, resetsAt: 40_000 },
      { name: 'day', windowSeconds: 86_400, limit: 1_000, remaining: 940, resetsAt: 80_010_000 },
    ]);
  });
});
