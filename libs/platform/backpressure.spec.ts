import { Backpressure } from './backpressure.js';

describe('Backpressure', () => {
  it('is too high while the oldest of any queue has waited for longer than it may', () => {
    const backpressure = new Backpressure(1_000);
    expect(backpressure.isTooHigh).toBe(false);
    const waiting = [0, 0];
    for (const index of waiting.keys()) backpressure.watch(() => waiting[index] ?? 0);
    const over = (...oldestMs: number[]) => {
      waiting.splice(0, 2, ...oldestMs);
      return backpressure.isTooHigh;
    };
    expect([over(0, 0), over(1_000, 0), over(1_001, 0), over(0, 1_001), over(0, 0)]).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
  });
});
