import type { HitOutcome } from '../domain/decide-hit.js';
import { verdictOf, windowsOf } from './verdicts.js';

/** Of 5 requests that waited together, 3 fitted into the minute. */
const OUTCOME: HitOutcome = {
  ...{ admitted: 3, perMinute: 10, perDay: 1_000 },
  ...{ minuteUsed: 10, minuteLeftMs: 30_000, dayUsed: 400, dayLeftMs: 80_000_000 },
  ...{ strikes: 2, banAfter: 30, strikesInMs: 0, spared: 2, banLeftMs: 0 },
};

const AT = 1_000;

const verdicts = (outcome: HitOutcome, count = 1, retried = count) =>
  [0, 1, 2, 3, 4].map((place) => {
    const verdict = verdictOf(outcome, place, { count, retried }, AT);
    if (verdict.kind === 'stale') throw new Error('It is not stale.');
    const remaining = verdict.windows.map((window) => window.remaining);
    return [verdict.kind, ...remaining, ...('retryInMs' in verdict ? [verdict.retryInMs] : [])];
  });

describe('The verdicts on requests that were decided together', () => {
  it('show each remaining number once, and when to retry', () => {
    expect(verdicts(OUTCOME)).toEqual([
      ['admitted', 2, 602],
      ['admitted', 1, 601],
      ['admitted', 0, 600],
      ['refused', 0, 600, 30_000],
      ['refused', 0, 600, 30_000],
    ]);
  });

  it('report a ban from the strike that caused it', () => {
    expect(verdicts({ ...OUTCOME, spared: 1, banLeftMs: 60_000 }).slice(3)).toEqual([
      ['refused', 0, 600, 30_000],
      ['banned', 0, 600, 60_000],
    ]);
    expect(verdicts({ ...OUTCOME, admitted: 0, spared: 0, banLeftMs: 60_000 }).map(([kind]) => kind)).toEqual(
      Array(5).fill('banned'),
    );
  });

  it('show no remaining requests where a batch did not fit', () => {
    const some = { ...OUTCOME, admitted: 0, minuteUsed: 8 };
    expect(verdicts(some, 3)[0]).toEqual(['refused', 0, 600, 30_000]);
    expect(verdicts({ ...some, admitted: 2 }, 2)[0]).toEqual(['admitted', 2, 600]);
  });

  it('tell a batch when all of it fits again', () => {
    const some = { ...OUTCOME, admitted: 0, minuteUsed: 8, dayUsed: 997 };
    expect(verdicts(some, 3)[0]).toEqual(['refused', 0, 3, 30_000]);
    expect(verdicts(some, 3, 4)[0]).toEqual(['refused', 0, 0, 80_000_000]);
  });

  it('are stale without an outcome', () => {
    expect(verdictOf(null, 0, { count: 1 }, AT)).toEqual({ kind: 'stale' });
  });

  it('show when the windows end', () => {
    expect(windowsOf(OUTCOME, AT).map(({ resetsAt }) => resetsAt)).toEqual([AT + 30_000, AT + 80_000_000]);
    expect(windowsOf({ ...OUTCOME, minuteUsed: 12 }, AT).map(({ remaining }) => remaining)).toEqual([0, 600]);
  });
});
