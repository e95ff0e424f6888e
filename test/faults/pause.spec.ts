import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../support/api.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';
import { Receiver } from '../support/receiver.js';
import { NO_REDIS, TestRedis } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';

jest.setTimeout(240_000);

/** How long a delivery may still begin after the answer, with what a busy machine needs. */
const HALTS_MS = 1_000;

const WAITING =
  'SELECT coalesce(sum(cardinality(message_ids)), 0)::int AS count FROM sluice.outbox WHERE suspended_account = $1';

describe.each([
  ['PostgreSQL', null],
  ['Redis', NO_REDIS],
] as const)('While an account is paused, with its queue on %s,', (store, unable) => {
  describeUnless(unable)('a worker', () => {
    let fleet: Fleet;
    let redis: TestRedis | undefined;
    beforeAll(async () => {
      if (store === 'Redis') redis = await TestRedis.start();
      const queue = redis === undefined ? {} : { REDIS_URL: redis.url };
      fleet = await Fleet.start({ ...queue, BACKOFF_MS: '500', WORKER_CONCURRENCY: '4' });
    });
    beforeEach(async () => {
      fleet.account = await fleet.client.signUp();
    });
    afterAll(async () => {
      await fleet.stop();
      await redis?.stop();
    });

    const pause = (paused: boolean, account: Account = fleet.account) =>
      fleet.client.ask(account, 'PATCH /account', { paused });
    const waiting = async () => (await fleet.sql<{ count: number }>(WAITING, [fleet.account.id]))[0]?.count;
    const isDelivered = (id: string) =>
      until(fleet.has(id, 'delivered'), 60_000, () => fleet.workers.at(-1)?.output ?? '');
    const calls = (id: string) => fleet.handled().filter((call) => call.id === id).length;
    /** Another account gets through, so what was due before has been passed over. */
    const neighbour = async (other?: Account) => {
      const { id } = await fleet.client.sent(other ?? (await fleet.client.signUp()));
      await until(() => calls(id) === 1);
    };

    it('finishes what it has begun, begins nothing, and goes on with the first attempt of each when it ends', async () => {
      const worker = await fleet.worker();
      const [running, retrying] = [await fleet.send('wait 2500'), await fleet.send('throw 1500')];
      await until(() => fleet.began(running, 1) && fleet.began(retrying, 1));
      worker.signal('SIGSTOP');
      const queued = await Promise.all(Array.from({ length: 10 }, () => fleet.send('hello')));
      const deliverAt = new Date(Date.now() + 800).toISOString();
      const scheduled = (await fleet.client.sent(fleet.account, { body: { message: 'later', deliverAt } })).id;
      await until(async () => (await fleet.sql('SELECT FROM sluice.outbox WHERE NOT for_sweeper')).length === 0);
      await pause(true);
      worker.signal('SIGCONT');
      const sent = await Promise.all(Array.from({ length: 10 }, () => fleet.send('hello')));
      await isDelivered(running);
      const all = [...queued, scheduled, retrying, ...sent];
      await until(
        async () => (await waiting()) === all.length,
        60_000,
        () => worker.output,
      );
      await neighbour();
      expect(await fleet.census()).toBe(0);
      for (const id of all) expect(calls(id)).toBe(id === retrying ? 1 : 0);

      await pause(false);
      for (const id of all.filter((id) => id !== retrying)) {
        await isDelivered(id);
        expect(await fleet.message(id)).toMatchObject({ attempts: 1 });
      }
      await until(() => fleet.began(retrying, 2));
      expect(calls(running)).toBe(1);
      expect(await waiting()).toBe(0);
      await worker.kill();
    });

    it('that is killed and started anew begins nothing either, and what it had is delivered later', async () => {
      const worker = await fleet.worker();
      const hanging = await fleet.send('wait 4000');
      await until(() => fleet.began(hanging, 1));
      await pause(true);
      const sent = await fleet.send('hello');
      await worker.kill();
      const next = await fleet.worker();
      await until(
        async () => (await waiting()) === 2,
        60_000,
        () => next.output,
      );
      if (redis !== undefined) await redis.run((client) => client.flushall());
      await neighbour();
      expect(await fleet.census()).toBe(0);
      expect(await fleet.message(hanging)).toMatchObject({ status: 'processing', attempts: 1 });
      expect([calls(hanging), calls(sent)]).toEqual([1, 0]);
      await pause(false);
      await isDelivered(sent);
      await isDelivered(hanging);
      expect(calls(hanging)).toBe(2);
      await next.kill();
    });

    it('of two begins nothing a second later, though messages are sent and claimed all the time', async () => {
      const workers = [await fleet.worker(), await fleet.worker()];
      const sent: string[] = [];
      /** Sends messages while something else is done. */
      const whileSending = async (work: () => Promise<unknown>) => {
        const over = new AbortController();
        const done = work().finally(() => {
          over.abort();
        });
        while (!over.signal.aborted) {
          sent.push(await fleet.send('hello'));
          await sleep(5);
        }
        await done;
      };
      /** The attempts that began later than a second after the answer, by the clock of the database. */
      let late: unknown[] = [];
      await whileSending(async () => {
        await until(() => sent.some((id) => calls(id) > 0));
        await pause(true);
        const [paused] = await fleet.sql<{ at: Date }>('SELECT clock_timestamp() AS at');
        await sleep(HALTS_MS + 1_000);
        late = await fleet.sql(
          `SELECT id FROM sluice.messages WHERE account_id = $1 AND attempts > 0 AND updated_at > $2 AND claim IS NOT NULL
           UNION SELECT message_id FROM sluice.attempts WHERE account_id = $1 AND started_at > $2`,
          [fleet.account.id, new Date((paused?.at.getTime() ?? 0) + HALTS_MS)],
        );
      });
      expect(late).toEqual([]);
      expect(await waiting()).toBeGreaterThan(0);
      await pause(false);
      for (const id of sent) await isDelivered(id);
      for (const id of sent) expect(calls(id)).toBe(1);
      for (const worker of workers) await worker.kill();
    });

    it('delivers for others as before, also when a thousand of its messages go on', async () => {
      const worker = await fleet.worker({ HANDLER_MS: '25' });
      await pause(true);
      await fleet.client.sendBatch(fleet.account, { messages: Array<string>(1_000).fill('hello') });
      await neighbour();
      expect(await waiting()).toBe(1_000);
      const before = fleet.handled().length;
      const other = await fleet.client.signUp();
      await pause(false);
      await until(() => fleet.handled().length > before + 20);
      await neighbour(other);
      expect(fleet.handled().length).toBeLessThan(before + 800);
      await until(
        () => fleet.handled().length >= before + 1_001,
        60_000,
        () => String(fleet.handled().length - before) + worker.output,
      );
      expect(await waiting()).toBe(0);
      await worker.kill();
    });
  });
});

describe('Webhooks of a paused account', () => {
  let fleet: Fleet;
  let receiver: Receiver;
  beforeAll(async () => {
    fleet = await Fleet.start({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_SECONDS: '3' });
    await fleet.worker();
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    receiver.stop();
    await fleet.stop();
  });

  it('wait, those of retries too, while an endpoint can be tested, and go on when it ends', async () => {
    const { client, account } = fleet;
    const ask = (route: string, body?: object) => client.ask(account, route, body);
    await ask('PATCH /account', { delivery: 'webhooks' });
    const [good, bad] = ['/good', '/bad'];
    const endpoints = [
      await ask('POST /endpoints', { url: receiver.url(good, 204) }),
      await ask('POST /endpoints', {
        url: receiver.url(bad, (response, _received, n) => response.writeHead(n === 1 ? 500 : 204).end()),
      }),
    ];
    const first = await fleet.send('first');
    await until(() => receiver.at(good).length === 1 && receiver.at(bad).length === 1);
    await ask('PATCH /account', { paused: true });
    const sent = await fleet.send('second');
    await sleep(HALTS_MS + 3_000);
    expect([receiver.at(good).length, receiver.at(bad).length]).toEqual([1, 1]);
    expect(await fleet.message(first)).toMatchObject({ status: 'processing', attempts: 2 });
    expect(await fleet.message(sent)).toMatchObject({ status: 'queued', attempts: 0 });
    expect(await fleet.census()).toBe(0);
    const id = String(endpoints[0]?.body.id);
    expect((await ask(`POST /endpoints/${id}/test`)).status).toBe(200);
    expect(receiver.at(good)).toHaveLength(2);

    await ask('PATCH /account', { paused: false });
    for (const one of [first, sent]) await until(fleet.has(one, 'delivered'));
  });
});
