import { Consumer } from '../support/consumer.js';
import { EventClient } from '../support/event-client.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';
import { Receiver } from '../support/receiver.js';
import { NO_REDIS, TestRedis, TestRedisCluster } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';
import { endsEveryAttempt, runsMessages, workerLanguages } from './worker-languages.js';

const LANGUAGES = workerLanguages('bullmq, redis.asyncio', 'bullmq');

async function standalone() {
  const redis = await TestRedis.start();
  return { settings: { REDIS_URL: redis.url }, names: 'messages', stop: () => redis.stop() };
}

async function cluster() {
  const three = await TestRedisCluster.start();
  const names = [0, 1, 2].map((shard) => `{messages-${shard}}`).join(',');
  return { settings: three.settings(3), names, stop: () => three.stop() };
}

for (const [where, serve] of [
  ['on a Redis', standalone],
  ['on a cluster', cluster],
] as const) {
  describeUnless(NO_REDIS)(`A foreign worker ${where}`, () => {
    let server: Awaited<ReturnType<typeof standalone>>;
    let fleet: Fleet;
    beforeAll(async () => {
      server = await serve();
      // Statuses must be updated by events, not by the reconciler.
      fleet = await Fleet.start({
        ...server.settings,
        RECONCILE_INTERVAL_MS: '3600000',
        MAX_ATTEMPTS: '2',
        WEBHOOK_ALLOW_PRIVATE: 'true',
      });
    });
    afterAll(async () => {
      await fleet.stop();
      await server.stop();
    });

    for (const [language, script, interpreter, missing] of LANGUAGES) {
      describeUnless(missing)(`in ${language}`, () => {
        it('delivers, and the status is updated immediately', async () => {
          const settings = { ...server.settings, QUEUE_NAME: server.names };
          const worker = fleet.start(`docs/workers/redis/${script}`, settings, interpreter);
          const stream = await EventClient.open(fleet.client, fleet.account);
          await until(() => stream.blocks.length > 0);
          const texts = Array.from({ length: 9 }, (_, index) => `Grüße ${index}`);
          const ids = await Promise.all(texts.map((message) => fleet.send(message)));
          for (const [index, id] of ids.entries()) {
            await worker.printed(`${id} ${texts[index]}`);
            await until(fleet.has(id, 'delivered'));
            expect(await fleet.message(id)).toMatchObject({ attempts: 1, failureReason: null });
          }
          await stream.received(2 * ids.length);
          for (const id of ids) expect(stream.statusesOf(id)).toEqual(['queued', 'delivered']);
          stream.close();
          expect(await worker.end()).toBe(0);
        });

        it('ends every attempt, whatever it throws or returns', async () => {
          const settings = { ...server.settings, QUEUE_NAME: server.names };
          const worker = runsMessages(fleet, `docs/workers/redis/${script}`, language, interpreter, settings);
          await endsEveryAttempt(fleet, worker, language);
        });
      });
    }

    it('leaves what is pulled or posted to endpoints alone: events tell of it as well', async () => {
      const { client, account } = fleet;
      const receiver = await Receiver.start();
      const stream = await EventClient.open(client, account);
      try {
        await until(() => stream.blocks.length > 0);
        await fleet.worker();
        await client.ask(account, 'PATCH /account', { delivery: 'pull' });
        const pulled = await fleet.send('pulled');
        const consumer = new Consumer(client, account);
        await consumer.ack(await consumer.leaseOne());
        await client.ask(account, 'PATCH /account', { delivery: 'webhooks' });
        await client.ask(account, 'POST /endpoints', { url: receiver.url('/') });
        const posted = await fleet.send('posted');
        await client.ask(account, 'PATCH /account', { delivery: 'handler' });
        const handled = await fleet.send('handled');
        await stream.received(9);
        for (const id of [pulled, posted, handled]) {
          expect(stream.statusesOf(id)).toEqual(['queued', 'processing', 'delivered']);
        }
      } finally {
        stream.close();
        receiver.stop();
      }
    });
  });
}
