import { fromJob, toJobData, WORKER_NAME, type DeliveryJobData } from '#delivery/adapters/bullmq/delivery-job.js';
import type { Message } from '#messages/domain/message.js';
import { aMessage } from '../support/messages.js';
import { NO_REDIS } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';
import { openReconciling, openReconcilingOnRedis, type Reconciling } from './reconciling-process.js';

/** What a worker of another program may make of the data of a job that it runs. */
const DATA: readonly (readonly [what: string, data: (message: Message) => unknown])[] = [
  ['nothing', () => ({})],
  ['null', () => null],
  ['a text', () => 'done'],
  ['an empty text', () => ''],
  ['a number', () => 7],
  ['a list', () => [1, 2]],
  ['its own state', () => ({ v: 1, step: 2 })],
  ['the data without its id', (message) => ({ ...toJobData(message), id: undefined })],
  ['the data and more', (message) => ({ ...toJobData(message), step: 2 })],
  ['the data of another message', () => toJobData(aMessage())],
  ['256 KiB', () => ({ step: 'x'.repeat(262_144) })],
];

const STORES = [
  ['PostgreSQL', openReconciling, describe],
  ['Redis', openReconcilingOnRedis, describeUnless(NO_REDIS)],
] as const;

for (const [store, open, describeStore] of STORES) {
  describeStore(`On ${store}, a job whose data a worker of another program replaces`, () => {
    let parts: Reconciling;
    beforeAll(async () => {
      parts = await open();
    });
    beforeEach(() => parts.reset());
    afterAll(() => parts.close());

    const running = async (data: (message: Message) => unknown) => {
      const message = aMessage();
      await parts.store.put(message);
      await parts.bullmq.queue.add([message]);
      const job = await parts.take('foreign');
      if (job === null) throw new Error('There is no job.');
      await job.replaceData(data(message));
      return { message, job };
    };
    const reconcile = async () => {
      await parts.reconcile();
      await parts.relay.sweep(0);
    };
    const statusOf = async ({ id, state }: Message) => (await parts.messages.find(state.accountId, id))?.state.status;

    it.each(DATA)('by %s is left to it while it runs, and settled once it is completed', async (_what, data) => {
      const { message, job } = await running(data);
      expect(await parts.strays.count()).toBe(0);
      await reconcile();
      await job.complete();
      await parts.follower.execute();
      await reconcile();
      expect(await statusOf(message)).toBe('delivered');
      expect(await parts.bullmq.waiting()).toEqual([]);
    });

    it.each(DATA)('by %s and fails is settled', async (_what, data) => {
      const { message, job } = await running(data);
      await job.failForGood('no');
      await parts.follower.execute();
      await reconcile();
      expect(await statusOf(message)).toBe('failed');
      expect(await parts.bullmq.waiting()).toEqual([]);
    });

    it.each(DATA)('by %s and gives back is delivered by our worker', async (_what, data) => {
      const { message, job } = await running(data);
      await job.retry();
      const delivered: string[] = [];
      const worker = parts.bullmq.shard.createWorker(
        async (taken) => {
          const { id, content } = fromJob(taken.id ?? '', taken.data as DeliveryJobData);
          expect(content).toEqual(fromJob(message.id, toJobData(message)).content);
          await parts.deliveries.follow([{ id, retries: 0, attempts: 1, failedReason: null, run: null }]);
          delivered.push(id);
          return WORKER_NAME;
        },
        { name: WORKER_NAME, autorun: false },
      );
      worker.on('error', () => undefined);
      void worker.run();
      await parts.store.until(async () => {
        await reconcile();
        return delivered.length > 0;
      });
      await worker.close();
      expect(delivered).toEqual([message.id]);
      expect(await parts.strays.count()).toBe(0);
    });
  });
}
