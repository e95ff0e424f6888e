import type { Hit } from '../../plan-throttler-storage.js';
import { Refusals } from './refusals.js';
import type { HitResult } from './take-hits.js';

const HIT: Hit = { accountId: 'acct_1', keyId: 'key_1', epoch: 0, count: 1 };
const OTHER: Hit = { ...HIT, keyId: 'key_2' };

/** What the store says when the minute is full. */
const FULL: HitResult = {
  ...{ ordinal: 1, stale: false, admitted: 0, per_minute: 60, per_day: 1_000 },
  ...{ minute_used: 60, minute_left_ms: 30_000, day_used: 60, day_left_ms: 80_000_000 },
  ...{ strikes: 0, ban_after: 30, strikes_in_ms: 2_000, spared: 1, ban_left_ms: 0 },
};
const STRIKING: HitResult = { ...FULL, strikes_in_ms: 0 };

describe('Refusals', () => {
  let refusals: Refusals;

  beforeEach(() => {
    refusals = new Refusals();
  });

  const kind = (hit: Hit, now: number) => {
    const verdict = refusals.recall(hit, now);
    if (verdict === null) refusals.noteAsked(hit, now);
    return verdict?.kind ?? 'ask';
  };
  const kinds = (hit: Hit, ...moments: number[]) => moments.map((now) => kind(hit, now));
  /** Hits until the store is asked. */
  const recalled = (hit: Hit, now: number) => {
    let count = 0;
    while (refusals.recall(hit, now) !== null) count++;
    return count;
  };

  it('know nothing of an account that was not refused', () => {
    expect(kinds(HIT, 0)).toEqual(['ask']);
    refusals.note(HIT, { ...FULL, admitted: 1, minute_used: 59 }, false, 0);
    expect(kinds(HIT, 1)).toEqual(['ask']);
  });

  it('answer for less than a second, then ask once', () => {
    refusals.note(HIT, FULL, true, 1_000);
    expect(kinds(HIT, 1_001, 1_899, 1_900, 1_901, 2_799, 2_800)).toEqual([
      ...['refused', 'refused', 'ask', 'refused', 'refused', 'ask'],
    ]);
  });

  it('answer until the window ends, and with what is left of it', () => {
    refusals.note(HIT, { ...FULL, minute_left_ms: 800 }, true, 0);
    const verdict = refusals.recall(HIT, 300);

    expect(verdict).toMatchObject({ kind: 'refused', retryInMs: 500 });
    expect(verdict?.kind === 'refused' && verdict.windows[0]).toMatchObject({ remaining: 0, resetsInMs: 500 });
    expect(kinds(HIT, 799, 800)).toEqual(['refused', 'ask']);
  });

  it('leave larger hits to the store', () => {
    refusals.note(HIT, FULL, true, 0);
    expect(kinds({ ...HIT, count: 7 }, 1)).toEqual(['ask']);
  });

  it('hold for the epoch in which they were told, so that a change of the plan is seen at once', () => {
    refusals.note(HIT, FULL, true, 0);
    expect(kinds({ ...HIT, epoch: 1 }, 1)).toEqual(['ask']);
    expect(kinds(HIT, 1)).toEqual(['refused']);
  });

  it('leave the first refusal of each key in each window to the store, which begins its grace', () => {
    refusals.note(HIT, STRIKING, true, 0);
    refusals.note(OTHER, STRIKING, true, 0);
    expect(kinds({ ...HIT, keyId: 'key_3' }, 1)).toEqual(['ask']);

    refusals.note(HIT, FULL, true, 31_000);
    expect(kinds(OTHER, 31_001)).toEqual(['ask']);
    expect(kinds(HIT, 31_001)).toEqual(['refused']);
  });

  it('count no strike within the grace, and all after it', () => {
    refusals.note(HIT, FULL, true, 0);
    kinds(HIT, 100, 200, 300);
    expect(refusals.takeAll()).toEqual([]);

    refusals.note(HIT, { ...FULL, strikes_in_ms: 100 }, true, 1_900);
    kinds(HIT, 1_999, 2_000, 2_001);
    expect(refusals.takeAll()).toEqual([{ accountId: 'acct_1', keyId: 'key_1', count: 2 }]);
    expect(refusals.takeAll()).toEqual([]);
  });

  it('leave the strike that brings the ban to the store, however many it knew and took meanwhile', () => {
    refusals.note(HIT, { ...STRIKING, strikes: 10 }, true, 0);
    kinds(HIT, 1, 2, 3);
    expect(refusals.takeStrikes('acct_1')).toMatchObject([{ count: 3 }]);
    expect(recalled(HIT, 4)).toBe(30 - 10 - 3 - 1);
  });

  it('hand strikes over that are overdue, and no others', () => {
    refusals.note(HIT, STRIKING, true, 0);
    refusals.note(OTHER, STRIKING, true, 0);
    kinds(HIT, 10, 11);
    kinds(OTHER, 500);

    expect(refusals.takeOverdue(959)).toEqual([]);
    expect(refusals.takeOverdue(960)).toEqual([{ accountId: 'acct_1', keyId: 'key_1', count: 2 }]);
    expect(refusals.takeStrikes('acct_1')).toEqual([{ accountId: 'acct_1', keyId: 'key_2', count: 1 }]);
    expect(refusals.takeOverdue(10_000)).toEqual([]);
  });

  it('are not taken for newer because strikes were handed over', () => {
    refusals.note(HIT, STRIKING, true, 0);
    refusals.noteHandedOver(HIT, { ...STRIKING, strikes: 5 }, 800);
    expect(kinds(HIT, 899, 900)).toEqual(['refused', 'ask']);
  });

  it('tell of a ban until it ends, and ask once a second whether it was lifted', () => {
    refusals.note(HIT, { ...FULL, ban_left_ms: 1_500 }, false, 0);
    expect(refusals.recall(HIT, 500)).toMatchObject({ kind: 'banned', retryInMs: 1_000 });
    expect(kinds(HIT, 900, 901, 1_499)).toEqual(['ask', 'banned', 'banned']);
    refusals.note(HIT, { ...FULL, minute_used: 0, day_used: 0 }, false, 1_500);
    expect(kinds(HIT, 1_501)).toEqual(['ask']);
  });

  it('tell of a ban that handed-over strikes have brought', () => {
    refusals.note(HIT, STRIKING, true, 0);
    refusals.noteHandedOver(HIT, { ...STRIKING, ban_left_ms: 60_000 }, 100);
    expect(kinds(HIT, 101)).toEqual(['banned']);
  });

  it('keep a ban to its key', () => {
    refusals.note(HIT, { ...FULL, minute_used: 0, ban_left_ms: 60_000 }, false, 0);
    expect(kinds(OTHER, 1)).toEqual(['ask']);
  });

  it('know what an account was last told, whose time has gone on since', () => {
    expect(refusals.lastTold('acct_1', 0)).toBeNull();
    refusals.note(HIT, { ...FULL, admitted: 1, minute_used: 20 }, false, 0);
    expect(refusals.lastTold('acct_1', 10_000)).toEqual([
      { name: 'minute', windowSeconds: 60, limit: 60, remaining: 40, resetsInMs: 20_000 },
      { name: 'day', windowSeconds: 86_400, limit: 1_000, remaining: 940, resetsInMs: 79_990_000 },
    ]);
  });
});
