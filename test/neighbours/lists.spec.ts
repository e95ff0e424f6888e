import type { Account } from '../support/api.js';
import { Fleet } from '../support/fleet.js';
import { goodClient, SECONDS } from '../support/good-client.js';
import { Program, residentBytes } from '../support/processes.js';

interface Report {
  readonly statusCodeStats: Readonly<Record<number, { readonly count: number }>>;
}

/** What an account may read. A page has one. */
const MIB_PER_SECOND = 32;
const LISTERS = 20;
/** All of them together: as many as twenty accounts of the largest plan. */
const LISTS_PER_SECOND = 333;

describe('An account that lists large messages', () => {
  let fleet: Fleet;
  let greedy: Account;
  beforeAll(async () => {
    fleet = await Fleet.startProcesses();
    greedy = await fleet.client.signUp();
    await fleet.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
       SELECT 'msg_' || lpad(n::text, 26, '0'), $1, repeat('x', 262144), 'delivered', now(), now()
       FROM generate_series(1, 100) AS n`,
      [greedy.id],
    );
  }, 60_000);
  afterAll(() => fleet.stop());

  it('delays no other, and takes little memory', async () => {
    const { account, client, api } = fleet;
    const alone = await goodClient(client.url, account.key);
    const options = {
      '-c': LISTERS,
      '-R': LISTS_PER_SECOND,
      '-d': SECONDS + 1,
      '-H': `authorization: Bearer ${greedy.key}`,
    };
    const args = Object.entries(options).flatMap(([name, value]) => [name, String(value)]);
    const url = `${client.url}/messages?limit=100`;
    const listers = Program.run('node_modules/autocannon/autocannon.js', {}, process.execPath, ['-j', ...args, url]);
    const beside = await goodClient(client.url, account.key);
    await listers.ended();
    const { statusCodeStats: lists } = JSON.parse(/^\{.*\}$/m.exec(listers.output)?.[0] ?? '') as Report;
    const mib = Math.round(residentBytes(api.pid) / 1_048_576);
    process.stdout.write(
      `lists: good p99 ${alone.p99.toFixed(1)} ms alone, ${beside.p99.toFixed(1)} ms beside ${LISTERS} listers; ` +
        `${JSON.stringify(lists)} lists, API ${mib} MiB\n`,
    );
    expect(Object.keys(beside.statuses)).toEqual(['202']);
    expect(beside.p50).toBeLessThan(10 * alone.p50 + 1_000);
    expect(Object.keys(lists)).toEqual(['200']);
    expect(lists[200]?.count).toBeLessThan(1.5 * MIB_PER_SECOND * (SECONDS + 1));
    expect(mib).toBeLessThan(450);
    expect(api.deaths).toEqual([]);
  }, 120_000);
});
