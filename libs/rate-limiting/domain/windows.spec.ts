import fc from 'fast-check';
import { refusedUntil, take, UNUSED, WINDOW_MS, type Windows } from './windows.js';

const LIMITS = { perMinute: 5, perDay: 8 };
const NOW = 1_800_000_000_000;

const at = (windows: Windows) => [
  windows.minute.used,
  windows.minute.endsAt - NOW,
  windows.day.used,
  windows.day.endsAt - NOW,
];

describe('The windows', () => {
  it('begin with the first request that they count', () => {
    const { admitted, windows } = take(UNUSED, LIMITS, 1, NOW);
    expect([admitted, ...at(windows)]).toEqual([1, 1, 60_000, 1, 86_400_000]);
  });

  it('admit as many as fit in both', () => {
    const first = take(UNUSED, LIMITS, 7, NOW);
    const second = take(first.windows, LIMITS, 7, NOW + 60_000);
    expect([first.admitted, second.admitted]).toEqual([5, 3]);
  });

  it('admit all or none of the requests that belong together', () => {
    const first = take(UNUSED, LIMITS, 4, NOW, true);
    expect(first.admitted).toBe(4);
    expect(take(first.windows, LIMITS, 2, NOW, true)).toEqual({ admitted: 0, windows: first.windows });
    expect(take(first.windows, LIMITS, 1, NOW, true).admitted).toBe(1);
  });

  it('do not count refused requests, and do not begin with them', () => {
    const full = take(UNUSED, LIMITS, 5, NOW).windows;
    expect(take(full, LIMITS, 3, NOW + 1)).toEqual({ admitted: 0, windows: full });
    expect(take(UNUSED, LIMITS, 9, NOW, true)).toEqual({ admitted: 0, windows: UNUSED });
  });

  it('end at their last moment, and the day goes on without the minute', () => {
    const full = take(UNUSED, LIMITS, 5, NOW).windows;
    expect(take(full, LIMITS, 1, NOW + 59_999).admitted).toBe(0);
    expect(at(take(full, LIMITS, 1, NOW + 60_000).windows)).toEqual([1, 120_000, 6, 86_400_000]);
    expect(at(take(full, LIMITS, 1, NOW + 86_400_000).windows)).toEqual([1, 86_460_000, 1, 172_800_000]);
  });

  it.each([
    ['neither', 4, 7, 1, 0],
    ['the minute', 5, 7, 1, NOW + 60_000],
    ['the day', 4, 8, 1, NOW + 3_600_000],
    ['both, of which the day ends later', 5, 8, 1, NOW + 3_600_000],
    ['the minute, for two requests', 4, 6, 2, NOW + 60_000],
  ])('refuse until the later end of the full windows: %s', (_which, minute, day, count, until) => {
    const windows = { minute: { used: minute, endsAt: NOW + 60_000 }, day: { used: day, endsAt: NOW + 3_600_000 } };
    expect(refusedUntil(windows, LIMITS, count)).toBe(until);
  });

  it('refuse until the end of the minute when it is later than the end of the day', () => {
    const windows = { minute: { used: 5, endsAt: NOW + 60_000 }, day: { used: 8, endsAt: NOW + 1 } };
    expect(refusedUntil(windows, LIMITS, 1)).toBe(NOW + 60_000);
  });

  it('keep what was used when limits change', () => {
    const { windows } = take(UNUSED, LIMITS, 5, NOW);
    expect(take(windows, { perMinute: 7, perDay: 100 }, 5, NOW).admitted).toBe(2);
    expect(take(windows, { perMinute: 3, perDay: 100 }, 1, NOW)).toEqual({ admitted: 0, windows });
  });

  it('are never longer than from now on, whatever the clock does', () => {
    const step = fc.record({ move: fc.integer({ min: -200_000_000, max: 200_000_000 }), count: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let windows = UNUSED;
        let now = NOW;
        for (const { move, count } of steps) {
          now += move;
          windows = take(windows, LIMITS, count, now).windows;
          expect(windows.minute.endsAt).toBeLessThanOrEqual(now + WINDOW_MS.minute);
          expect(windows.day.endsAt).toBeLessThanOrEqual(now + WINDOW_MS.day);
        }
        expect(take(windows, LIMITS, 5, now + WINDOW_MS.day).admitted).toBe(5);
      }),
    );
  });
});
