import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../support/api.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';
import { NO_REDIS, TestRedis } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';

jest.setTimeout(300_000);

const CONCURRENCY = 20;
const SLOW_MS = 2_000;
/** Of all slow accounts together. */
const BACKLOG = 1_000;
/** No more than may pass others within a second (libs/delivery/application/fair-scheduler.ts): a stall may add all at once. */
const QUICK = 40;

/** How long messages of an account waited for their handler, in milliseconds. */
const WAITED = `
  SELECT percentile_disc(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY extract(epoch FROM a.started_at - m.created_at) * 1000) AS ms
  FROM sluice.messages m JOIN sluice.attempts a ON a.message_id = m.id WHERE m.account_id = $1`;

describe.each([
  ['PostgreSQL', null],
  ['Redis', NO_REDIS],
] as const)('Beside accounts whose handler is slow, with the queue on %s,', (store, unable) => {
  describeUnless(unable)('the messages of a quick one', () => {
    let fleet: Fleet;
    let redis: TestRedis | undefined;
    beforeEach(async () => {
      if (store === 'Redis') redis = await TestRedis.start();
      const queue = redis === undefined ? {} : { REDIS_URL: redis.url };
      fleet = await Fleet.start({ ...queue, WORKER_CONCURRENCY: String(CONCURRENCY), SHUTDOWN_GRACE_MS: '100' });
    });
    afterEach(async () => {
      await fleet.stop();
      await redis?.stop();
    });

    const isSlow = ({ message }: { message: string }) => message.startsWith('wait');
    const slowBegun = () => fleet.handled().filter(isSlow).length;

    async function sendBacklogs(accounts: number): Promise<void> {
      const messages = Array<string>(BACKLOG / accounts).fill(`wait ${SLOW_MS}`);
      for (let count = 0; count < accounts; count++) {
        const account = await fleet.client.signUp();
        expect((await fleet.client.sendBatch(account, { messages })).status).toBe(202);
      }
    }

    /** Sends messages at a steady rate; resolves when all were handled, to how many slow ones began before each. */
    async function sendQuick(account: Account): Promise<number[]> {
      const before = new Map<string, number>();
      for (let count = 0; count < QUICK; count++) {
        const { id } = await fleet.client.sent(account, { message: 'quick' });
        before.set(id, slowBegun());
        await sleep(25);
      }
      const isHandled = (id: string) => fleet.handled().some((call) => call.id === id);
      await until(() => [...before.keys()].every(isHandled), 100_000);
      const calls = fleet.handled();
      return [...before].map(([id, begun]) => {
        const index = calls.findIndex((call) => call.id === id);
        return calls.slice(0, index).filter(isSlow).length - begun;
      });
    }

    it.each([
      [1, 1],
      [10, 1],
      [4, 2],
    ])('wait for a bounded number of slow ones: %i slow accounts and %i workers', async (accounts, workers) => {
      for (let count = 0; count < workers; count++) await fleet.worker();
      const quick = await fleet.client.signUp();
      await sendBacklogs(accounts);
      await until(() => slowBegun() >= workers * CONCURRENCY);
      const passed = await sendQuick(quick);
      const [waited] = await fleet.sql<{ ms: number[] }>(WAITED, [quick.id]);
      const [p50 = 0, p99 = 0] = waited?.ms ?? [];
      process.stdout.write(
        `${store}, ${accounts} slow, ${workers} workers: ${p50.toFixed()} and ${p99.toFixed()} ms\n`,
      );
      expect(Math.max(...passed)).toBeLessThanOrEqual(workers * CONCURRENCY);
      expect(slowBegun()).toBeLessThan(BACKLOG);
    });

    it('pass a backlog that arrives later', async () => {
      await fleet.worker();
      const quick = await fleet.client.signUp();
      const sending = sendQuick(quick);
      await sendBacklogs(2);
      // Not the most: while the database stalls, a quick account holds places, too, and may wait for one round of turns.
      const passed = (await sending).sort((one, other) => one - other);
      expect(passed[QUICK / 2]).toBeLessThanOrEqual(CONCURRENCY);
      expect(slowBegun()).toBeLessThan(BACKLOG);
    });
  });
});
