import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { expectProblem, expectStatus, newKey, OPERATOR, TestApi, type Account } from '../support/api.js';
import { Consumer } from '../support/consumer.js';
import { acceptedOf, forgotten } from '../support/deletion.js';
import { EventClient } from '../support/event-client.js';
import { Fleet } from '../support/fleet.js';
import { freePort, until } from '../support/processes.js';
import { Receiver } from '../support/receiver.js';
import { NO_REDIS, TestRedis } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';
import { keysWith, tablesOfAccounts, tablesWith } from '../support/stored-anywhere.js';

const remove = async (api: TestApi, { id }: Account) =>
  expectStatus(202, await api.ask(OPERATOR, `DELETE /admin/accounts/${id}`));

describe('An account that is deleted', () => {
  let fleet: Fleet;
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.start();
  });
  afterEach(() => fleet.stop());
  afterAll(() => {
    receiver.stop();
  });

  it('gets nothing delivered after a second, by handlers and by webhooks, and its running attempts end', async () => {
    const settings = { WEBHOOK_ALLOW_PRIVATE: 'true', WORKER_CONCURRENCY: '2', WEBHOOK_RETRY_SECONDS: '1,1,1' };
    fleet = await Fleet.start(settings);
    const { client, account } = fleet;
    const mark = randomUUID();
    const webhooks = async (of: Account, path: string, ms: number) => {
      await client.ask(of, 'PATCH /account', { delivery: 'webhooks' });
      const url = receiver.url(path, (response) => {
        setTimeout(() => response.writeHead(500).end(), ms);
      });
      expectStatus(201, await client.ask(of, 'POST /endpoints', { url, rateLimitPerSecond: 5 }));
    };
    const messages = Array.from({ length: 60 }, () => `wait 400 ${mark}`);
    expectStatus(202, await client.sendBatch(account, { messages }));
    await webhooks(account, '/deleted', 300);
    expectStatus(202, await client.sendBatch(account, { messages }));
    await fleet.worker();
    await until(() => fleet.handled().length > 2 && receiver.at('/deleted').length > 2);
    await remove(client, account);
    await sleep(1_000);
    const [handled, received] = [fleet.handled().length, receiver.at('/deleted').length];
    expect(handled).toBeLessThan(messages.length);
    const neighbour = await client.signUp();
    const { id } = await client.sent(neighbour);
    await until(() => fleet.began(id, 1));
    await sleep(2_000);
    expect([fleet.handled().length, receiver.at('/deleted').length]).toEqual([handled + 1, received]);
    await forgotten(client, account.id);
    expect(await tablesWith(client, [account.id, account.keyId, mark])).toEqual({});
    expect(await fleet.census()).toBe(0);
  });

  it('is removed by another process when the one that removes it is killed', async () => {
    fleet = await Fleet.startProcesses();
    const { client, account } = fleet;
    await client.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
       SELECT 'msg_01h455vb4pex5vsknk' || lpad(n::text, 8, '0'), $1, 'text', 'delivered', now(), now()
       FROM generate_series(1, 30000) n`,
      [account.id],
    );
    const left = async () => (await client.stored(account))?.messages ?? 0;
    await remove(client, account);
    await until(async () => (await left()) < 29_000);
    await fleet.api.kill();
    const stopped = await left();
    expect(stopped).toBeGreaterThan(0);
    await sleep(500);
    expect(await left()).toBe(stopped);
    const other = fleet.start('dist/apps/api/main.js', { PORT: String(await freePort()) });
    await other.ready();
    await until(async () => (await left()) === 0);
    await forgotten(client, account.id);
    expect(await tablesWith(client, [account.id, account.keyId])).toEqual({});
  });
});

describe.each([
  ['PostgreSQL', null],
  ['Redis', NO_REDIS],
] as const)('With the queue on %s,', (store, unable) => {
  describeUnless(unable)('an account with everything that an account can have', () => {
    let redis: TestRedis | undefined;
    let fleet: Fleet;
    let receiver: Receiver;
    let other: TestApi;
    beforeAll(async () => {
      if (store === 'Redis') redis = await TestRedis.start();
      const settings = {
        WEBHOOK_ALLOW_PRIVATE: 'true',
        WORKER_CONCURRENCY: '3',
        WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1,1,1',
      };
      fleet = await Fleet.start({
        ...settings,
        ...(redis !== undefined && { REDIS_URL: redis.url }),
        MAX_ATTEMPTS: '2',
      });
      other = await fleet.client.join();
      receiver = await Receiver.start();
      await fleet.worker();
    });
    beforeEach(async () => {
      fleet.account = await fleet.client.signUp();
    });
    afterAll(async () => {
      receiver.stop();
      await fleet.stop();
      await redis?.stop();
    });

    /** How long what has begun before the deletion goes on. */
    const RUNNING_MS = 4_000;

    /** Sends by each delivery mode, with handlers, webhooks and leases that are at work. */
    async function begin(mark: string) {
      const { client, account } = fleet;
      const ask = (route: string, body?: object, headers?: Record<string, string>) =>
        client.ask(account, route, body, headers);
      const ids: string[] = [];
      const send = async (body: object) => {
        const headers = { 'idempotency-key': `${ids.length}-${mark}` };
        const { id } = await client.sent(account, { body: { message: mark, ...body }, headers });
        ids.push(id);
        return id;
      };
      const line = async (mode: string, message: string) => {
        for (let n = 0; n < 8; n++) await send({ message, orderingKey: `${mode}-${mark}`, metadata: { mark } });
      };

      const change = { name: `name ${mark}`, externalId: `external-${mark}` };
      expectStatus(200, await client.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, change));
      const streams = [await EventClient.open(client, account), await EventClient.open(other, account)];
      const repeatable = { 'idempotency-key': `key-${mark}` };
      const made = expectStatus(201, await ask('POST /api-keys', { name: `key ${mark}` }, repeatable));
      const rotated = await client.createKey(account);
      const successor = newKey(await ask(`POST /api-keys/${rotated.id}/rotate`, { graceSeconds: 600 }));
      const link = { scopes: ['messages:read'] };
      const { body } = await client.ask(OPERATOR, `POST /admin/accounts/${account.id}/portal-links`, link);
      await client.sql('INSERT INTO sluice.offences (key_id, account_id, reason) VALUES ($1, $2, $3)', [
        ...[successor.id, account.id, `ban ${mark}`],
      ]);

      await line('handler', `wait ${RUNNING_MS} ${mark}`);
      const failed = await send({ message: `throw 0 ${mark}` });
      const { data } = expectStatus(
        202,
        await client.sendBatch(account, { messages: Array(100).fill(`wait 300 ${mark}`) }),
      );
      ids.push(...(data as { id: string }[]).map(({ id }) => id));
      await send({ deliverAt: new Date(Date.now() + 3_600_000), orderingKey: `later-${mark}` });
      await ask(`POST /messages/${await send({ deliverAt: new Date(Date.now() + 3_600_000) })}/cancel`);

      await ask('PATCH /account', { delivery: 'webhooks' });
      const paths = ['slow', 'failing', 'told', 'ended'].map((name) => `/${name}/${mark}`);
      const slowly = (response: ServerResponse) => void setTimeout(() => response.writeHead(204).end(), RUNNING_MS);
      const endpoints = [
        { url: receiver.url(paths[0] ?? '', slowly), headers: { 'x-mark': mark } },
        { url: receiver.url(paths[1] ?? '', 500), description: mark, types: ['order.*'] },
        { url: receiver.url(paths[2] ?? '', 204), types: ['sluice.message.failed'] },
        { url: receiver.url(paths[3] ?? '', 500) },
      ];
      const created = [];
      for (const endpoint of endpoints) created.push(expectStatus(201, await ask('POST /endpoints', endpoint)));
      await ask(`POST /endpoints/${String(created[0]?.id)}/rotate-secret`, { graceSeconds: 600 });
      await line('webhooks', mark);
      for (let n = 0; n < 4; n++) await send({ type: `order.${mark}` });
      await until(() => paths.every((path) => path === paths[2] || receiver.at(path).length > 0));
      await ask(`DELETE /endpoints/${String(created[3]?.id)}`);

      await ask('PATCH /account', { delivery: 'pull' });
      await line('pull', mark);
      const consumer = new Consumer(client, account);
      for (const mode of ['acked', 'nacked', 'leased']) await send({ message: `${mode} ${mark}` });
      const leases = await consumer.lease({ max: 100, seconds: 600 });
      const leaseOf = (what: string) => {
        const lease = leases.find(({ message }) => message.startsWith(what));
        if (lease === undefined) throw new Error(`The message "${what}" was not leased.`);
        return lease;
      };
      expectStatus(200, await consumer.ackAll([leaseOf('acked')]));
      await consumer.nack(leaseOf('nacked'), { delaySeconds: 3_600, reason: `reason ${mark}` });
      await until(() => fleet.handled().filter(({ message }) => message.endsWith(mark)).length > 3);
      await until(fleet.has(failed, 'failed'));
      const counted = 'SELECT FROM sluice.storage WHERE account_id = $1';
      await until(async () => (await client.sql(counted, [account.id])).length > 0);
      return {
        ...{ ids, streams, paths, leased: leaseOf('leased'), token: String(body.url).split('#link=')[1] ?? '' },
        keys: [account.key, String(made.key), rotated.key, successor.key],
        ownIds: [account.id, account.keyId, String(made.id), rotated.id, ...created.map(({ id }) => String(id))],
      };
    }

    it.each([
      ['at work', false],
      ['paused', true],
    ])('has nothing delivered after a second, and leaves nothing: one that is %s', async (_what, isPaused) => {
      const { client, account } = fleet;
      const mark = randomUUID();
      const neighbour = await client.signUp();
      const { ids, streams, paths, leased, token, keys, ownIds } = await begin(mark);
      const going = `SELECT delivery FROM sluice.messages WHERE account_id = $1 AND status = 'processing' GROUP BY 1 ORDER BY 1`;
      const modes = (await client.sql<{ delivery: string }>(going, [account.id])).map(({ delivery }) => delivery);
      expect(modes).toEqual(['handler', 'pull', 'webhooks']);
      if (isPaused) {
        expectStatus(200, await client.ask(account, 'PATCH /account', { paused: true }));
        const parked = 'SELECT FROM sluice.outbox WHERE suspended_account = $1';
        await until(async () => (await client.sql(parked, [account.id])).length > 0);
      }
      const texts = [mark, ...ownIds, ...ids];
      // A worker removes what it has noticed.
      const noticed = 'sluice.ended_endpoints';
      const tables = (await tablesOfAccounts(client)).filter((table) => table !== noticed);
      const found = Object.keys(await tablesWith(client, texts));
      expect(found).toEqual(expect.arrayContaining(tables));
      const inRedis = () => redis?.run((connection) => keysWith(connection, texts)) ?? Promise.resolve({});
      if (redis === undefined) expect(found).toContain('bullmq.job');
      else expect(await inRedis()).not.toEqual({});

      const waiting = new Consumer(other, account).request({ wait: 20 });
      const begun = () => [
        ...fleet.handled().filter(({ message }) => message.endsWith(mark)),
        ...paths.flatMap((path) => receiver.at(path)),
      ];
      await sleep(200);
      // As if a process were still busy with another account: nothing is removed yet.
      await client.sql(
        `INSERT INTO sluice.deleted_accounts (digest, account_id, worker, worker_until)
         VALUES (sha256('busy'), 'busy', gen_random_uuid(), now() + interval '1 hour') ON CONFLICT DO NOTHING`,
      );
      await remove(client, account);
      await sleep(1_000);
      const before = begun().length;
      for (const api of [client, other]) {
        for (const key of keys) expectProblem(await api.ask(key), 401, 'unauthorized');
        for (const route of ['ack', 'extend']) {
          const input = { leaseToken: leased.leaseToken, seconds: 60 };
          expectProblem(await api.ask(account, `POST /messages/${leased.id}/${route}`, input), 401, 'unauthorized');
        }
        expectProblem(await api.ask(null, 'POST /portal-links/open', { token }), 404, 'portal_link_not_found');
      }
      expect([401, 503]).toContain((await waiting).status);
      for (const stream of streams) await stream.end();
      const { id } = await client.sent(neighbour);
      await until(() => fleet.began(id, 1));
      await sleep(RUNNING_MS + 1_000);
      expect(begun()).toHaveLength(before);
      expect((await client.stored(account))?.messages).toBeGreaterThanOrEqual(ids.length);

      await client.sql(`DELETE FROM sluice.deleted_accounts WHERE account_id = 'busy'`);
      await forgotten(client, account.id);
      expect(await tablesWith(client, texts)).toEqual({});
      expect(await inRedis()).toEqual({});
      expect(await fleet.census()).toBe(0);
      expect(await acceptedOf(client, account.id)).toBe(ids.length);
      const { data } = expectStatus(200, await client.ask(OPERATOR, `GET /admin/audit?accountId=${account.id}`));
      expect((data as { action: string }[])[0]).toMatchObject({ action: 'account.deleted' });
    });
  });
});

describeUnless(NO_REDIS)('An account that is deleted, with the queue on Redis', () => {
  it.each([1, 2])('leaves nothing in it, with %s shards', async (shards) => {
    const redis = await TestRedis.start('--maxmemory-policy', 'noeviction');
    const api = await new TestApi().start({ REDIS_URL: redis.url, QUEUE_SHARDS: String(shards) });
    try {
      const [account, neighbour] = [await api.signUp(), await api.signUp()];
      const [mark, others] = [randomUUID(), randomUUID()];
      const sent = expectStatus(202, await api.sendBatch(account, { messages: Array.from({ length: 8 }, () => mark) }));
      const ids = (sent.data as { id: string }[]).map(({ id }) => id);
      await api.sendBatch(neighbour, { messages: [others, others] });
      const holds = (text: string, count: number) => async () =>
        Object.keys(await redis.run((client) => keysWith(client, [text]))).length === count;
      await until(holds(mark, 8));
      await until(holds(others, 2));

      // A worker of another program fails some, delays one, and is at one.
      const names = shards === 1 ? ['messages'] : ['{messages-0}', '{messages-1}'];
      const connection = { host: '127.0.0.1', port: Number(new URL(redis.url).port) };
      let finish: () => void = () => undefined;
      const running = new Promise<void>((resolve) => (finish = resolve));
      const seen = new Set<string>();
      const workers = names.map(
        (name) =>
          new Worker(
            name,
            async (job) => {
              seen.add(String(job.id));
              if (job.id === ids[0]) await running;
              await job.log(`log ${(job.data as { message: string }).message}`);
              throw new Error(`reason ${(job.data as { message: string }).message}`);
            },
            { connection, concurrency: 20, maxStalledCount: 1_000 },
          ),
      );
      await until(() => ids.every((id) => seen.has(id)));
      for (const name of names) {
        const queue = new Queue(name, { connection });
        await until(async () => (await queue.getActiveCount()) <= 1);
        await queue.close();
      }
      await remove(api, account);
      const passed = `SELECT FROM sluice.deleted_accounts WHERE account_id = $1 AND worker_until IS NOT NULL`;
      await until(async () => (await api.sql(passed, [account.id])).length > 0);
      // It waits for the job that a worker has.
      await sleep(1_000);
      expect(await api.sql('SELECT FROM sluice.deleted_accounts WHERE account_id = $1', [account.id])).toHaveLength(1);
      finish();
      await Promise.all(workers.map((worker) => worker.close()));
      await forgotten(api, account.id);
      expect(await redis.run((client) => keysWith(client, [account.id, mark, ...ids]))).toEqual({});
      expect(await tablesWith(api, [account.id, account.keyId, mark])).toEqual({});
      const kept = Object.keys(await redis.run((client) => keysWith(client, [others])));
      expect(kept.filter((key) => /msg_\w+$/.test(key))).toHaveLength(2);
    } finally {
      await api.stop();
      await redis.stop();
    }
  });
});
