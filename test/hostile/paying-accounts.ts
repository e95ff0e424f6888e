import { readFileSync, writeFileSync } from 'node:fs';
import { autocannon } from '../support/autocannon.js';
import type { Account } from '../support/api.js';
import { Fleet } from '../support/fleet.js';
import { goodClient, SECONDS, type Experience } from '../support/good-client.js';
import { until } from '../support/processes.js';

const ATTACKERS = 5;
/** Those of the plan `business`. */
const LIMITS = { perMinute: 1_000, perDay: 100_000 };
/** Within the plan. */
const PER_SECOND = Math.floor(LIMITS.perMinute / 60);
/** The Node.js options and memory limits of docker-compose.yml. */
const NODE_OPTIONS = '--max-semi-space-size=16 --max-old-space-size=112';
const MAX_MIB = { api: 384, worker: 256 };

interface Attack {
  readonly path: string;
  /** The body of a POST; without one, a GET. */
  readonly body?: object | string;
  /** Of autocannon; by default as many requests as the plan allows. */
  readonly options?: readonly (string | number)[];
}

const WHENEVER = { since: '2020-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' };
const WITHIN_PLAN = ['-c', 4, '-R', PER_SECOND];
const BATCH_A_SECOND = ['-c', 4, '-R', 1];

const messages = (body: object | string): Attack => ({ path: '/messages', body });
const batches = (message: object): Attack => ({
  path: '/messages/batch',
  body: { messages: Array<object>(PER_SECOND).fill(message) },
  options: BATCH_A_SECOND,
});

/** What an account may do with its key. */
const ATTACKS: Record<string, (account: Account) => Attack> = {
  'the largest messages': () => messages({ message: 'x'.repeat(262_144) }),
  'messages of escaped characters': () => messages(`{"message":"${'\\u0001'.repeat(170_000)}"}`),
  'deeply nested JSON': () => messages('['.repeat(1_000_000)),
  'many members in a body': () => messages(`{${'"":0,'.repeat(200_000)}"message":""}`),
  'messages that are due at the same time': () =>
    batches({ message: 'later', deliverAt: new Date(Date.now() + (SECONDS * 1_000) / 2).toISOString() }),
  'messages that fail': () => batches({ message: 'throw' }),
  'slow messages': () => batches({ message: 'wait 100' }),
  'one idempotency key': () => ({
    ...messages({ message: 'hello' }),
    options: [...WITHIN_PLAN, '-H', 'idempotency-key=the-same'],
  }),
  'retries of all that failed': () => ({ path: '/messages/retry', body: WHENEVER }),
  'lists of large messages': () => ({ path: '/messages?limit=100' }),
  'lists of what is rare': () => ({ path: '/messages?status=cancelled&limit=100' }),
  usage: () => ({ path: '/account/usage' }),
  'new keys': () => ({ path: '/api-keys', body: { name: 'another' } }),
  'rotated keys': ({ keyId }) => ({ path: `/api-keys/${keyId}/rotate`, body: { graceSeconds: 3_600 } }),
  'simulated schedules': () => ({
    path: '/account/simulate',
    body: { requests: Array.from({ length: 10_000 }, (_, at) => ({ at })) },
  }),
  'requests beyond the plan': () => ({ ...messages({ message: 'hello' }), options: ['-c', 50] }),
};

// In the hostile form only.
describe('Paying accounts that send all that their plan allows', () => {
  let fleet: Fleet;
  let alone: Experience;
  beforeAll(async () => {
    fleet = await Fleet.startProcesses({ NODE_OPTIONS, MAX_BUFFERED_MB: '16', BACKOFF_MS: '200' });
    await fleet.worker();
    alone = await besideThem(2);
  }, 120_000);
  afterAll(() => fleet.stop());

  /** What a good client sees for some seconds, and the longest time until its messages are delivered. */
  async function besideThem(seconds: number): Promise<Experience & { readonly delivery: number }> {
    const good = goodClient(fleet.client.url, fleet.account.key, {}, seconds);
    const end = performance.now() + seconds * 1_000;
    let delivery = 0;
    do {
      const sentAt = performance.now();
      const id = await fleet.send('of the good client');
      await until(fleet.has(id, 'delivered'));
      delivery = Math.max(delivery, performance.now() - sentAt);
    } while (performance.now() < end);
    return { ...(await good), delivery };
  }

  function start({ path, body, options = WITHIN_PLAN }: Attack, { id, key }: Account) {
    const args = ['-d', SECONDS, ...options];
    if (body === undefined) return autocannon(fleet.client.url + path, key, ...args);
    const file = fleet.file(`body-${id}`);
    writeFileSync(file, typeof body === 'string' ? body : JSON.stringify(body));
    const post = ['-m', 'POST', '-H', 'content-type=application/json', '-i', file];
    return autocannon(fleet.client.url + path, key, ...args, ...post);
  }

  it.each(Object.entries(ATTACKS))(
    'cost others nothing by %s',
    async (name, attack) => {
      const accounts = await Promise.all(Array.from({ length: ATTACKERS }, () => fleet.client.signUp(LIMITS)));
      const attacking = accounts.map((account) => start(attack(account), account));
      const good = await besideThem(SECONDS);
      const answers: Record<string, number> = {};
      for (const { statusCodeStats } of await Promise.all(attacking)) {
        for (const [status, { count }] of Object.entries(statusCodeStats))
          answers[status] = (answers[status] ?? 0) + count;
      }
      const memory = { api: peakMib(fleet.api.pid), worker: peakMib(fleet.workers[0]?.pid ?? 0) };
      process.stdout.write(`${name}: ${JSON.stringify({ answers, alone, good, memory })}\n`);

      expect(Object.keys(good.statuses)).toEqual(['202']);
      expect(good.p50).toBeLessThan(3 * alone.p50 + 400);
      expect(good.delivery).toBeLessThan(5_000);
      expect(memory.api).toBeLessThan(MAX_MIB.api);
      expect(memory.worker).toBeLessThan(MAX_MIB.worker);
    },
    (SECONDS + 120) * 1_000,
  );
});

/** The most memory that a process has had. */
function peakMib(pid: number): number {
  const [, kib] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1_024);
}
