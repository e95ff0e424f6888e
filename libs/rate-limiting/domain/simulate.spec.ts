import { simulate, steady } from './simulate.js';

const LIMITS = { perMinute: 3, perDay: 8 };

describe('simulate', () => {
  it('reports which requests would be admitted, and when the first would be refused', () => {
    const verdicts: [number, boolean][] = [];
    const outcome = simulate([0, 10, 20, 30, 60_000, 60_001], LIMITS, (...verdict) => verdicts.push(verdict));

    expect(outcome).toEqual({ admitted: 5, refused: 1, firstRefusedAt: 30 });
    expect(verdicts.filter(([, admitted]) => !admitted)).toEqual([[30, false]]);
    expect(verdicts).toHaveLength(6);
  });

  it('refuses nothing within the limits', () => {
    expect(simulate([], LIMITS)).toEqual({ admitted: 0, refused: 0, firstRefusedAt: null });
    expect(simulate(steady(3, 2), LIMITS)).toEqual({ admitted: 6, refused: 0, firstRefusedAt: null });
  });

  it('counts in the day as well, which ends after 24 hours', () => {
    expect(simulate(steady(3, 3), LIMITS)).toEqual({ admitted: 8, refused: 1, firstRefusedAt: 160_000 });
    expect(simulate([...steady(3, 3), 86_400_000], LIMITS).admitted).toBe(9);
  });

  it('spreads steady requests evenly', () => {
    expect([...steady(3, 2)]).toEqual([0, 20_000, 40_000, 60_000, 80_000, 100_000]);
  });
});
