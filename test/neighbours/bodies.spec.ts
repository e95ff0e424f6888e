import { Fleet } from '../support/fleet.js';
import { goodClient, type Experience } from '../support/good-client.js';
import { lines } from '../support/http.js';
import { residentBytes } from '../support/processes.js';

const MIB = 1_048_576;
const HELD_BACK = 1_000_000;

describe('Clients that hold back the last byte of their bodies', () => {
  let fleet: Fleet;
  let alone: Experience;
  let idle: number;
  beforeAll(async () => {
    fleet = await Fleet.startProcesses({ TRUST_PROXY: '127.0.0.1', MAX_BUFFERED_MB: '32' });
    await goodClient(fleet.client.url, fleet.account.key, {}, 1);
    alone = await goodClient(fleet.client.url, fleet.account.key);
    idle = residentBytes(fleet.api.pid);
  });
  afterAll(() => fleet.stop());

  /** What a good client sees beside requests with these headers, one for each of them. */
  async function beside(path: string, headers: readonly string[]) {
    const head = [`POST ${path} HTTP/1.1`, 'Host: sluice', 'Content-Type: application/json'];
    const heads = headers.map((header) => lines(...head, `Content-Length: ${HELD_BACK + 1}`, header));
    const settings = { URL: fleet.client.url, HEADS: JSON.stringify(heads), BODY_BYTES: `${HELD_BACK}` };
    const clients = fleet.start('test/support/stalling-clients.mjs', settings);
    const [good] = await Promise.all([goodClient(fleet.client.url, fleet.account.key), clients.ready()]);
    const grown = Math.round((residentBytes(fleet.api.pid) - idle) / MIB);
    // Some are refused in both tests.
    await clients.printed('\n');
    await clients.kill();
    const p99 = `${alone.p99.toFixed()} and ${good.p99.toFixed()} ms`;
    process.stdout.write(`bodies of ${path}: ${grown} MiB more, p99 without and with them ${p99}\n`);
    expect(Object.keys(good.statuses)).toEqual(['202']);
    return { grown, statuses: clients.output.split('\n').slice(0, -1) };
  }

  it('keep no sign-ups in memory, from a single address or an IPv6 /48', async () => {
    const addresses = Array.from({ length: 300 }, (_, n) => (n % 2 ? '192.0.2.1' : `2001:db8:0:${n.toString(16)}::1`));
    const headers = addresses.map((address) => `X-Forwarded-For: ${address}`);
    expect((await beside('/accounts', headers)).grown).toBeLessThan(150);
  });

  it('keep as many messages in memory as MAX_BUFFERED_MB allows, each account a quarter of them', async () => {
    const accounts = await Promise.all([1, 2, 3, 4, 5].map(() => fleet.client.signUp()));
    const headers = Array.from({ length: 200 }, (_, n) => `Authorization: Bearer ${accounts[n % 5]?.key}`);
    const { grown, statuses } = await beside('/messages', headers);
    expect(new Set(statuses)).toEqual(new Set(['503']));
    expect(grown).toBeLessThan(150);
  });
});

describe('Accounts that send bodies of very many names', () => {
  it('leave the good client its turn, and get theirs', async () => {
    const fleet = await Fleet.startProcesses();
    try {
      await goodClient(fleet.client.url, fleet.account.key, {}, 1);
      const alone = await goodClient(fleet.client.url, fleet.account.key);
      const accounts = await Promise.all(Array.from({ length: 8 }, () => fleet.client.signUp()));
      const KEYS = JSON.stringify(accounts.map(({ key }) => key));
      const attackers = fleet.start('test/support/flooding-clients.mjs', { URL: fleet.client.url, KEYS });
      await attackers.printed('202');
      const beside = await goodClient(fleet.client.url, fleet.account.key);
      await attackers.kill();
      const statuses = new Set(attackers.output.trim().split('\n'));
      process.stdout.write(`bodies of many names: ${JSON.stringify({ alone, beside, statuses: [...statuses] })}\n`);
      expect(Object.keys(beside.statuses)).toEqual(['202']);
    } finally {
      await fleet.stop();
    }
  }, 180_000);
});
