import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { expectStatus, OPERATOR, TestApi, type Account } from '../support/api.js';
import { forgotten } from '../support/deletion.js';
import { Fleet } from '../support/fleet.js';
import { freePort, until } from '../support/processes.js';
import { Receiver } from '../support/receiver.js';
import { NO_REDIS, TestRedis } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';
import { keysWith, tablesWith } from '../support/stored-anywhere.js';

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
