import { setTimeout as sleep } from 'node:timers/promises';
import { NO_TURN } from '#messages/application/fair-scheduler.js';
import { aMessage, jobOf, messages, TRACEPARENT } from '../support/messages.js';
import { openBullMq, POLICY } from './bullmq-process.js';
import { describeDeliveryQueue, type DeliveryQueueSubject } from './delivery-queue.contract.js';
import { InMemoryDeliveryQueue } from './fakes/in-memory-delivery-queue.js';
import { PostgresStore } from './postgres-store.js';

function openInMemory(): Promise<DeliveryQueueSubject> {
  const queue = new InMemoryDeliveryQueue();
  const cutOff = new InMemoryDeliveryQueue();
  cutOff.away = true;
  return Promise.resolve({
    queue,
    other: queue,
    cutOff,
    jobs: () => Promise.resolve(new Map([...queue.jobs].map(([id, message]) => [id, jobOf(message)]))),
    take: () => {
      const next = queue.next();
      if (next !== null) queue.taken.add(next);
      return Promise.resolve(next);
    },
    reset: () => {
      queue.jobs.clear();
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
}

async function openOnPostgres(): Promise<DeliveryQueueSubject> {
  const store = await PostgresStore.open();
  const [one, other] = [openBullMq(store.url), openBullMq(store.url)];
  const cutOff = openBullMq(store.url.replace(/:\d+\//, ':1/'));
  return {
    queue: one.queue,
    other: other.queue,
    cutOff: cutOff.queue,
    jobs: one.jobs,
    take: async () => (await one.take())?.id ?? null,
    reset: () => store.reset(),
    close: async () => {
      for (const { close } of [one, other]) await close();
      await store.close();
    },
  };
}

describeDeliveryQueue('InMemoryDeliveryQueue', openInMemory);
describeDeliveryQueue('BullMqDeliveryQueue on PostgreSQL', openOnPostgres);

describe('BullMqDeliveryQueue', () => {
  let store: PostgresStore;
  let process: ReturnType<typeof openBullMq>;
  beforeAll(async () => {
    store = await PostgresStore.open();
    process = openBullMq(store.url);
  });
  afterAll(async () => {
    await process.close();
    await store.close();
  });

  it('contains for other workers how often and when to repeat a job', async () => {
    const { bullmq, queue } = process;
    const message = aMessage();
    await queue.add([message]);
    const { maxAttempts: attempts, backoffMs: delay } = POLICY;
    expect((await bullmq.getJob(message.id))?.opts).toMatchObject({
      attempts,
      backoff: { type: 'exponential', delay },
    });
  });

  it('adds jobs also when the current turn cannot be read', async () => {
    const { bullmq, connection, queue, close } = openBullMq(store.url);
    const message = aMessage();
    const query = jest.spyOn(connection.pool, 'query').mockRejectedValueOnce(new Error('no such column') as never);
    await queue.add([message]);
    expect(query.mock.calls[0]?.[0]).toContain('priority');
    expect(await bullmq.getJob(message.id)).toBeDefined();
    await close();
  });

  it('gives a retry that is due a turn: neither before nor behind the backlogs of others', async () => {
    const { bullmq, queue, take } = process;
    await store.reset();
    const retried = messages(200, { accountId: 'acct_of_retries' });
    await queue.add(retried);
    await Promise.all(retried.map(() => take()));
    for (const { id } of retried) {
      const job = await bullmq.getJob(id);
      await job?.changePriority({ priority: NO_TURN });
      await job?.moveToDelayed(Date.now(), 'token');
    }
    // The current turn is read again after a quarter of a second.
    await sleep(300);
    await queue.add(messages(200, { accountId: 'acct_of_others' }));
    // Taking a job, one of the others, makes BullMQ move those that are due.
    await take();
    await queue.giveTurnsToRetries();
    const isRetry = new Set(retried.map(({ id }) => id));
    const taken = Array.from({ length: 99 }, async () => isRetry.has((await take())?.id ?? ''));
    expect((await Promise.all(taken)).filter(Boolean)).toHaveLength(50);
  });

  it('contains the trace where BullMQ itself puts it, and not in the data of the job', async () => {
    const { bullmq, queue } = process;
    const [traced, untraced] = [aMessage({ traceparent: TRACEPARENT }), aMessage()];
    await queue.add([traced, untraced]);
    const job = await bullmq.getJob(traced.id);
    expect(job?.opts.telemetry).toEqual({ metadata: `{"traceparent":"${TRACEPARENT}"}` });
    expect(Object.keys((job?.data ?? {}) as object).sort()).toEqual(['accountId', 'createdAt', 'id', 'message', 'v']);
    expect((await bullmq.getJob(untraced.id))?.opts).not.toHaveProperty('telemetry');
  });

  it('is unavailable while its table is locked', async () => {
    const { queue } = process;
    await store.transaction('LOCK TABLE bullmq.job');
    await expect(queue.add(messages(2))).rejects.toMatchObject({ code: 'unavailable' });
    await store.reset();
    await queue.add(messages(2));
  });
});
