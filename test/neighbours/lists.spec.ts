import { readFileSync } from 'node:fs';
import { percentile } from '../../bench/report/stats.js';
import { MESSAGE_STATUSES } from '#messages/domain/message-status.js';
import type { Account } from '../support/api.js';
import { Fleet } from '../support/fleet.js';
import { goodClient, SECONDS } from '../support/good-client.js';
import { Program } from '../support/processes.js';

/** Messages of the account that lists them. */
const STORED = SECONDS > 10 ? 1_500_000 : 200_000;
const LISTERS = 20;
/** All of them together: as many as twenty accounts of the largest plan. */
const LISTS_PER_SECOND = 333;

describe('An account that lists many messages', () => {
  let fleet: Fleet;
  let greedy: Account;
  beforeAll(async () => {
    fleet = await Fleet.startProcesses();
    greedy = await fleet.client.signUp();
    const fill = (text: string, from: number, count: number) =>
      fleet.sql(
        `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
         SELECT 'msg_' || lpad(n::text, 26, '0'), $1, ${text}, 'delivered', now(), now()
         FROM generate_series($2::int, $3::int) AS n`,
        [greedy.id, from, from + count - 1],
      );
    await fill(`repeat('x', 262144)`, 1, 200);
    await fill(`'hello'`, 201, STORED);
    await fleet.sql('ANALYZE sluice.messages');
  }, 300_000);
  afterAll(() => fleet.stop());

  const residentMiB = () =>
    Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${fleet.api.pid}/status`, 'utf8'))?.[1]) / 1_024);

  async function timesOf(route: string): Promise<{ p50: number; p99: number }> {
    const times: number[] = [];
    for (let request = 0; request < 100; request++) {
      const begin = performance.now();
      expect((await fleet.client.ask(greedy, route)).status).toBe(200);
      times.push(performance.now() - begin);
    }
    times.sort((a, b) => a - b);
    return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
  }

  it('gets each page in time, whatever the filter', async () => {
    const { p50: baseline } = await timesOf('GET /account');
    for (const filter of ['', ...MESSAGE_STATUSES.map((status) => `&status=${status}`)]) {
      const { p50, p99 } = await timesOf(`GET /messages?limit=50${filter}`);
      process.stdout.write(
        `${STORED} messages, ${filter || 'all'}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n`,
      );
      expect(p50).toBeLessThan(3 * baseline + 20);
    }
  }, 120_000);

  it.each([
    ['a filter that matches nothing', 'status=cancelled'],
    [
      'pages of large messages',
      `limit=100&cursor=${Buffer.from(`msg_${'201'.padStart(26, '0')}`).toString('base64url')}`,
    ],
  ])(
    'delays no other, with %s',
    async (_name, query) => {
      const { account, client, api } = fleet;
      const alone = await goodClient(client.url, account.key);
      const options = {
        '-c': LISTERS,
        '-R': LISTS_PER_SECOND,
        '-d': SECONDS + 1,
        '-H': `authorization: Bearer ${greedy.key}`,
      };
      const args = Object.entries(options).flatMap(([name, value]) => [name, String(value)]);
      const url = `${client.url}/messages?${query}`;
      const listers = Program.run('node_modules/autocannon/autocannon.js', {}, process.execPath, ['-j', ...args, url]);
      const beside = await goodClient(client.url, account.key);
      await listers.ended();
      const lists = JSON.parse(/^\{.*\}$/m.exec(listers.output)?.[0] ?? '{}') as Record<string, unknown>;
      process.stdout.write(
        `${query}: good p99 ${alone.p99.toFixed(1)} ms alone, ${beside.p99.toFixed(1)} ms beside ${LISTERS} listers; ` +
          `${JSON.stringify(lists.statusCodeStats)} lists, API ${residentMiB()} MiB\n`,
      );
      expect(Object.keys(beside.statuses)).toEqual(['202']);
      expect(beside.p99).toBeLessThan(3 * alone.p99 + 300);
      expect(residentMiB()).toBeLessThan(450);
      expect(api.deaths).toEqual([]);
    },
    120_000,
  );
});
