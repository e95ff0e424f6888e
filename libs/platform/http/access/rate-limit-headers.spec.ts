import fc from 'fast-check';
import { seconds, tightest, type RateLimitWindow } from '#kernel/rate-limit-window.js';
import { exhausted, rateLimitHeaders, renewed } from './rate-limit-headers.js';

const NOW = 1_800_000_000_000;
/** The same moment in milliseconds of `performance.now()`. */
const AT = 1_000;
const minute: RateLimitWindow = { name: 'minute', windowSeconds: 60, limit: 60, remaining: 59, resetsAt: AT + 41_500 };
const day: RateLimitWindow = {
  ...{ name: 'day', windowSeconds: 86_400, limit: 1_000, remaining: 812, resetsAt: AT + 30_210_900 },
};

const headers = (windows: readonly RateLimitWindow[], now = NOW) =>
  Object.fromEntries(rateLimitHeaders(windows, now, AT));

describe('The rate limit headers', () => {
  it('contain both windows, in the syntax of the draft', () => {
    expect(rateLimitHeaders([minute, day], NOW, AT)).toEqual([
      ['X-RateLimit-Limit', '60'],
      ['X-RateLimit-Remaining', '59'],
      ['X-RateLimit-Reset', '1800000042'],
      ['RateLimit-Policy', '"minute";q=60;w=60, "day";q=1000;w=86400'],
      ['RateLimit', '"minute";r=59;t=42, "day";r=812;t=30211'],
    ]);
  });

  it('contain a single window alone', () => {
    expect(headers([day])).toMatchObject({
      'X-RateLimit-Limit': '1000',
      'RateLimit-Policy': '"day";q=1000;w=86400',
      RateLimit: '"day";r=812;t=30211',
    });
    expect(rateLimitHeaders([], NOW)).toEqual([]);
  });

  it.each([
    ['fewer requests remain', { ...minute, remaining: 5 }, { ...day, remaining: 4 }, 'day'],
    ['fewer requests remain', { ...minute, remaining: 4 }, { ...day, remaining: 5 }, 'minute'],
    ['of as many it resets later', { ...minute, remaining: 4 }, { ...day, remaining: 4 }, 'day'],
    ['of as many it resets later', { ...minute, remaining: 4 }, { ...day, remaining: 4, resetsAt: AT + 1 }, 'minute'],
  ])('show the window of which %s', (_name, one, other, shown) => {
    expect(tightest([one, other])?.name).toBe(shown);
    expect(tightest([other, one])?.name).toBe(shown);
  });

  it('name a reset after now, and never too early to retry', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.double({ min: 0.001, max: 90_000_000, noNaN: true }), (offset, resetsInMs) => {
        const now = NOW + offset;
        const reset = Number(headers([{ ...minute, resetsAt: AT + resetsInMs }], now)['X-RateLimit-Reset']) * 1_000;
        expect(reset).toBeGreaterThan(now);
        expect(reset).toBeGreaterThanOrEqual(Math.floor(now + resetsInMs));
        expect(reset).toBeLessThan(now + resetsInMs + 1_001);
      }),
    );
  });

  it('name a reset after now for a window that has ended', () => {
    expect(headers([{ ...minute, remaining: 0, resetsAt: AT - 1 }])).toMatchObject({
      'X-RateLimit-Reset': String(NOW / 1_000 + 1),
      RateLimit: '"minute";r=0;t=1',
    });
  });

  it.each([
    [0, 1],
    [0.1, 1],
    [1_000, 1],
    [1_000.1, 2],
    [59_999, 60],
  ])('write %d ms as %d s', (ms, whole) => {
    expect(seconds(ms)).toBe(whole);
  });

  it('report that nothing remains where nothing can be counted', () => {
    jest.spyOn(performance, 'now').mockReturnValueOnce(AT);
    const shown = exhausted([minute, day]);
    expect(headers(shown)).toMatchObject({
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(NOW / 1_000 + 1),
      RateLimit: '"minute";r=0;t=1, "day";r=0;t=1',
    });
  });
});

describe('renewed', () => {
  it('shows windows that have ended as unused', () => {
    expect(renewed([minute, day], AT + 41_499)).toEqual([minute, day]);
    expect(renewed([minute, day], AT + 41_500)).toEqual([{ ...minute, remaining: 60, resetsAt: AT + 101_500 }, day]);
  });
});
