import { disablesBecause, forgottenAfter, isSuccess, nextAttemptIn } from './attempt-result.js';

const NOW = new Date('2026-11-21T09:30:00Z');
const ago = (ms: number) => new Date(NOW.getTime() - ms);
const WAITS = [5, 300];

it.each([
  [null, false],
  [199, false],
  [200, true],
  [204, true],
  [299, true],
  [300, false],
  [307, false],
  [410, false],
  [500, false],
])('A status of %s is a success: %s', (status, expected) => {
  expect(isSuccess(status)).toBe(expected);
});

it.each([
  ['no answer', null, null, 1, 5_000],
  ['an error', 500, null, 1, 5_000],
  ['an error again', 500, null, 2, 300_000],
  ['an error for the last time', 500, null, 3, null],
  ['a redirect', 307, null, 1, 5_000],
  ['429 with Retry-After', 429, 60_000, 1, 60_000],
  ['503 with a shorter Retry-After', 503, 1_000, 1, 5_000],
  ['503 for more than a day', 503, 999_999_000, 1, 86_400_000],
  ['another error with Retry-After', 500, 60_000, 1, 5_000],
  ['410', 410, 60_000, 1, null],
])('After %s the next attempt starts in time', (_what, status, retryAfterMs, failures, expected) => {
  expect(nextAttemptIn({ status, retryAfterMs }, failures, WAITS, 0)).toBe(expected);
});

const REVISION = 2;

it.each([
  ['410', 410, REVISION, null, null, 'gone'],
  ['410 of the revision before', 410, 1, ago(9_000), null, null],
  ['a failure that is the first', 500, REVISION, null, null, null],
  ['a failure shortly after the first', 500, REVISION, ago(999), NOW, null],
  ['a failure long after the first', null, REVISION, ago(1_000), NOW, 'failing'],
  ['a failure long after the first that another version noted', null, REVISION, ago(1_000), null, 'failing'],
  ['a failure long after all others', 500, REVISION, ago(9_000), ago(1), null],
  ['410 long after all others', 410, REVISION, ago(9_000), ago(1), 'gone'],
  ['a failure of the revision before, long after the first', 500, 1, ago(9_000), NOW, null],
])('An endpoint is disabled after %s: %s %s', (_what, status, revision, failingSince, failingUntil, expected) => {
  const request = { status, revision, now: NOW, disableAfterMs: 1_000 };
  expect(disablesBecause({ revision: REVISION, failingSince, failingUntil }, request)).toBe(expected);
});

it.each([
  ['a day after the next attempt', 5_000, 432_000_000, 86_405_000],
  ['a day after the last attempt', 0, 432_000_000, 86_400_000],
  ['sooner where endpoints are disabled sooner', 5_000, 3_600_000, 3_605_000],
])('A failure is forgotten %s', (_what, retryMs, disableAfterMs, expected) => {
  expect(forgottenAfter(retryMs, disableAfterMs)).toBe(expected);
});
