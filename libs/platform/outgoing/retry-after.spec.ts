import { retryAfterMs } from './retry-after.js';

const NOW = new Date('2026-11-06T08:48:37Z');

it.each([
  ['120', 120_000],
  [' 120 ', 120_000],
  ['0', 0],
  ['120, 60', 120_000],
  ['9'.repeat(400), Infinity],
  ['Fri, 06 Nov 2026 08:49:37 GMT', 60_000],
  ['Friday, 06-Nov-26 08:49:37 GMT', 60_000],
  ['Fri Nov  6 08:49:37 2026', 60_000],
  ['Fri, 06 Nov 2026 08:47:37 GMT', 0],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
  ['Fri, 31 Nov 2026 08:49:37 GMT', null],
  ['Fri, 06 Now 2026 08:49:37 GMT', null],
  ['Thu, 31 Dec 2026 23:59:60 GMT', 4_806_682_000],
  ['Fri, 06 Nov 2026 25:49:37 GMT', null],
  ['2026-11-06T08:49:37Z', null],
  ['6 November 2026', null],
  ['1.5', null],
  ['-1', null],
  ['1e3', null],
  ['soon', null],
  ['', null],
  [['7', '60'], 7_000],
  [[], null],
  [undefined, null],
])('Retry-After: %p asks to wait %s ms', (header, expected) => {
  expect(retryAfterMs(header, NOW)).toBe(expected);
});
