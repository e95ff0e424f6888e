import fc from 'fast-check';
import { simulate, simulateSteady } from './simulate.js';

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
    expect(simulate([0, 1, 2], LIMITS)).toEqual({ admitted: 3, refused: 0, firstRefusedAt: null });
  });

  it('counts in the day as well, which ends after 24 hours', () => {
    const times = [0, 1, 2, 60_000, 60_001, 60_002, 120_000, 120_001, 120_002];
    expect(simulate(times, LIMITS)).toEqual({ admitted: 8, refused: 1, firstRefusedAt: 120_002 });
    expect(simulate([...times, 86_400_000], LIMITS).admitted).toBe(9);
  });
});

describe('simulateSteady', () => {
  it('simulates requests that are evenly spread', () => {
    expect(simulateSteady(3, 2, LIMITS)).toEqual({ admitted: 6, refused: 0, firstRefusedAt: null });
    expect(simulateSteady(3, 3, LIMITS)).toEqual({ admitted: 8, refused: 1, firstRefusedAt: 160_000 });
    expect(simulateSteady(6, 1, LIMITS)).toEqual({ admitted: 3, refused: 3, firstRefusedAt: 30_000 });
  });

  it('finds what simulating each of them would find', () => {
    const limit = fc.integer({ min: 1, max: 20 });
    fc.assert(
      fc.property(
        fc.record({ perMinute: limit, perDay: fc.integer({ min: 1, max: 2_000 }) }),
        limit,
        fc.oneof(limit, fc.constant(1_500)),
        (limits, perMinute, minutes) => {
          const times = Array.from({ length: perMinute * minutes }, (_, n) => Math.floor((n * 60_000) / perMinute));
          expect(simulateSteady(perMinute, minutes, limits)).toEqual(simulate(times, limits));
        },
      ),
      { numRuns: 50 },
    );
  });
});
