import fc from 'fast-check';
import { backoff } from './retry-policy.js';

const policy = { maxAttempts: 5, backoffMs: 1_000, maxBackoffMs: 60_000 };
const almostOne = 1 - 2 ** -53;

describe('backoff', () => {
  it.each([
    [1, 500, 1_000],
    [2, 1_000, 2_000],
    [3, 2_000, 4_000],
    [6, 16_000, 32_000],
    [7, 30_000, 60_000],
    [100, 30_000, 60_000],
    [2_000, 30_000, 60_000],
  ])('after failure %d waits between %d and %d ms', (failures, least, most) => {
    expect(backoff(policy, failures, 0)).toBe(least);
    expect(backoff(policy, failures, almostOne)).toBe(most);
  });

  it('stays between half of its ceiling and its ceiling, in whole milliseconds, and never shrinks with failures', () => {
    const settings = fc.record({
      backoffMs: fc.integer({ min: 1, max: 86_400_000 }),
      maxBackoffMs: fc.integer({ min: 1, max: 86_400_000 }),
      failures: fc.integer({ min: 1, max: 100 }),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    fc.assert(
      fc.property(settings, ({ backoffMs, maxBackoffMs, failures, random }) => {
        const terms = { maxAttempts: 100, backoffMs, maxBackoffMs };
        const waited = backoff(terms, failures, random);
        const ceiling = Math.min(maxBackoffMs, backoffMs * 2 ** (failures - 1));
        expect(Number.isSafeInteger(waited)).toBe(true);
        expect(waited).toBeGreaterThanOrEqual(Math.floor(ceiling / 2));
        expect(waited).toBeLessThanOrEqual(ceiling);
        expect(backoff(terms, failures + 1, random)).toBeGreaterThanOrEqual(waited);
      }),
    );
  });
});
