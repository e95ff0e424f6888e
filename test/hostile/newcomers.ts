import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../bench/report/stats.js';
import { autocannon } from '../support/autocannon.js';
import { Fleet } from '../support/fleet.js';
import { SECONDS } from '../support/good-client.js';
import { lines, postLines } from '../support/http.js';

/** Until all busy connections are open. */
const STARTING_SECONDS = 2;
const BODY = '{"message":"hello"}';
const POST = ['-m', 'POST', '-H', 'content-type=application/json', '-b', BODY];

// In the hostile form only: beside other tests, these times are mostly theirs.
describe('New connections beside busy ones', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.startProcesses();
  }, 60_000);
  afterAll(() => fleet.stop());

  it.each([
    { path: '/messages', status: 202, busy: 1_000, perSecond: 240 },
    ...[400, 1_000].flatMap((busy) => [
      { path: '/messages', status: 202, busy, perSecond: 40 },
      { path: '/account', status: 200, busy, perSecond: 40 },
    ]),
  ])(
    'are served in time: %o',
    async ({ path, status, busy, perSecond }) => {
      const { client, account } = fleet;
      const isPost = path === '/messages';
      const duration = ['-c', busy, '-d', STARTING_SECONDS + SECONDS];
      const old = autocannon(client.url + path, account.key, ...duration, ...(isPost ? POST : []));
      await sleep(STARTING_SECONDS * 1_000);
      const REQUEST = isPost
        ? postLines(account.key, `Content-Length: ${BODY.length}`) + BODY
        : lines(`GET ${path} HTTP/1.1`, 'Host: sluice', `Authorization: Bearer ${account.key}`);
      const env = { URL: client.url, REQUEST, PER_SECOND: String(perSecond), SECONDS: String(SECONDS) };
      const newcomers = fleet.start('test/support/newcomers.mjs', env);
      const { latency, statusCodeStats } = await old;
      await newcomers.ended(60_000);
      const responses = JSON.parse(newcomers.output) as { status: number; ms: number }[];
      const times = responses.map(({ ms }) => ms).sort((one, other) => one - other);
      const p90 = percentile(times, 0.9);
      process.stdout.write(
        `${path}: p50 of ${busy} busy connections ${latency.p50} ms, p90 of ${perSecond} new ones a second ${p90.toFixed()} ms\n`,
      );

      expect(Object.keys(statusCodeStats)).toEqual([String(status)]);
      expect(new Set(responses.map((response) => response.status))).toEqual(new Set([status]));
      expect(p90).toBeLessThan(2 * latency.p50 + 200);
    },
    120_000,
  );
});
