import { setTimeout as sleep } from 'node:timers/promises';
import { WORKER_NAME } from '#messages/adapters/bullmq/delivery-job.js';
import { PostgresJobEvents } from '#messages/adapters/bullmq/tables/postgres-job-events.js';
import { PostgresQueueMaintenance } from '#messages/adapters/bullmq/tables/postgres-queue-maintenance.js';
import { PostgresStrayMessages } from '#messages/adapters/bullmq/tables/postgres-stray-messages.js';
import { JobFollower } from '#messages/application/job-follower.js';
import { Reconciler } from '#messages/application/reconciler.js';
import { SystemClock, type Clock } from '#kernel/clock.js';
import { aMessage, idempotency, SENT_AT, TestClock } from '../support/messages.js';
import { openBullMq, QUEUE_NAME } from './bullmq-process.js';
import { describeCensus, type CensusSubject } from './census.contract.js';
import { PostgresStore } from './postgres-store.js';

const LOCK_MS = 200;
const HOUR_MS = 3_600_000;

const atOnce = { count: 0 };
const workers = {
  ours: { name: WORKER_NAME },
  foreign: {},
  'tidy foreign': { removeOnComplete: atOnce, removeOnFail: atOnce },
};

async function open() {
  const store = await PostgresStore.open();
  const bullmq = openBullMq(store.url);
  const process = await store.process(bullmq.queue);
  const { database, deliveries, messages } = process;
  const strays = new PostgresStrayMessages(database, bullmq.connection);
  const events = new PostgresJobEvents(database, bullmq.connection);
  const maintenance = new PostgresQueueMaintenance(database, bullmq.connection, { lockMs: LOCK_MS });
  const reports: unknown[] = [];
  const reconcilerAt = (clock: Clock = new SystemClock()) =>
    new Reconciler(strays, maintenance, deliveries, messages, clock, { ran: (result) => reports.push(result) });
  const follower = new JobFollower(events, deliveries, { followingFailed: (error) => reports.push(error) });
  const reconciler = reconcilerAt();
  return { ...process, store, bullmq, strays, events, maintenance, reports, reconcilerAt, reconciler, follower };
}

async function openOnPostgres(): Promise<CensusSubject> {
  const { store, bullmq, strays, events, relay, messages, reconciler, follower } = await open();
  return {
    strays,
    events,
    reconciler,
    follower,
    put: (message) => store.put(message),
    commit: (message) => store.commit(message),
    enqueue: (message) => bullmq.queue.add([message]),
    take: (whose) => bullmq.take(workers[whose]),
    promote: async ({ jobId }) => (await bullmq.bullmq.getJob(jobId))?.promote(),
    stall: async ({ jobId }) => {
      await bullmq.take({ lockDuration: 1 });
      const strict = bullmq.run({ stalledInterval: 20, maxStalledCount: 0 });
      await store.until(() => bullmq.bullmq.getJobState(jobId).then((state) => state === 'failed'));
      await strict.close();
    },
    drop: async ({ jobId }) => {
      await store.sql('DELETE FROM bullmq.job WHERE id = $1', [jobId]);
    },
    find: (message) => store.find(message),
    attempts: async ({ id, state }) => (await messages.attempts(state.accountId, id)) ?? [],
    relay: async () => {
      await relay.sweep(0);
      return (await bullmq.bullmq.getWaiting()).map(({ id }) => id ?? '');
    },
    reset: () => store.reset(),
    close: async () => {
      await bullmq.close();
      await store.close();
    },
  };
}

describeCensus('The census on PostgreSQL', openOnPostgres);

describe('the reconciler, once in a while', () => {
  let parts: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    parts = await open();
  });
  beforeEach(() => parts.store.reset());
  afterAll(async () => {
    await parts.bullmq.close();
    await parts.store.close();
  });

  it('deletes idempotency keys a day after their first use', async () => {
    const { store, messages, reconcilerAt } = parts;
    await messages.add(aMessage(), idempotency('key'));
    const clock = new TestClock();
    clock.advance(24 * HOUR_MS);
    await reconcilerAt(clock).run();
    expect(await store.sql('SELECT FROM sluice.idempotency_keys')).toHaveLength(1);
    clock.advance(1);
    await reconcilerAt(clock).run();
    expect(await store.sql('SELECT FROM sluice.idempotency_keys')).toHaveLength(0);
  });

  it('requeues many strays also when the queue has many events', async () => {
    const { store, strays, reconciler } = parts;
    await store.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
       SELECT 'msg_' || n, 'acct', 'hello', 'queued', now(), now() FROM generate_series(1, 500) AS n`,
    );
    await store.sql(
      `INSERT INTO bullmq.event (queue, event, data, created_at_ms)
       SELECT $1, 'added', jsonb_build_object('jobId', 'other_' || n), 0 FROM generate_series(1, 200000) AS n`,
      [QUEUE_NAME],
    );
    expect(await reconciler.run()).toEqual({ requeued: 500, followed: 0 });
    expect(await strays.count()).toBe(0);
  });

  it('removes jobs from the queue a day after they ended, and only those', async () => {
    const { store, bullmq, reconciler } = parts;
    const all = [];
    for (const hours of [23, 25]) {
      const message = aMessage({ status: 'delivered' });
      all.push(message.id);
      await bullmq.queue.add([message]);
      await (await bullmq.take())?.complete();
      await store.sql('UPDATE bullmq.job SET finished_at_ms = $2 WHERE id = $1', [
        ...[message.id, Date.now() - hours * HOUR_MS],
      ]);
    }
    const waiting = aMessage();
    await bullmq.queue.add([waiting]);
    await store.sql('UPDATE bullmq.job SET added_at_ms = $1', [Date.now() - 25 * HOUR_MS]);
    await reconciler.run();
    expect([...(await bullmq.jobs()).keys()].sort()).toEqual([all[0], waiting.id].sort());
  });

  it('lets jobs be taken over again when a worker\u2019s clock was an hour ahead', async () => {
    const { store, bullmq, reconciler } = parts;
    const message = aMessage({ status: 'delivered' });
    await store.put(message);
    await bullmq.queue.add([message]);
    await bullmq.take({ name: WORKER_NAME, lockDuration: HOUR_MS });
    await store.sql(
      `INSERT INTO bullmq.meta (queue, field, value) VALUES ($1, 'stalled-check', $2)
       ON CONFLICT (queue, field) DO UPDATE SET value = excluded.value`,
      [QUEUE_NAME, Date.now() + HOUR_MS],
    );
    await reconciler.run();
    const next = bullmq.run({ name: WORKER_NAME, lockDuration: LOCK_MS, stalledInterval: 50 });
    await store.until(() => bullmq.bullmq.getJobState(message.id).then((state) => state === 'completed'));
    await next.close();
  });

  it('lets a job be repeated when it is due, also when the clock of the worker that failed it was an hour ahead', async () => {
    const { store, bullmq, maintenance } = parts;
    const [wrong, right] = [aMessage(), aMessage()];
    await bullmq.queue.add([wrong, right]);
    const dueIn = (id: string, ms: number) =>
      store.sql(
        `UPDATE bullmq.job SET state = 'delayed', processed_by = $2, delay_ms = 60000, process_at_ms = $3 WHERE id = $1`,
        [id, WORKER_NAME, Date.now() + ms],
      );
    await dueIn(wrong.id, 60_000 + HOUR_MS);
    await dueIn(right.id, 30_000);
    await maintenance.repairFutureTimestamps();
    const due = await store.sql<{ id: string; seconds: number }>(
      `SELECT id, (process_at_ms - extract(epoch FROM clock_timestamp()) * 1000)::int / 10000 AS seconds
       FROM bullmq.job ORDER BY id`,
    );
    // In tens of seconds: what was right goes on to be, what was wrong is due after its delay.
    expect(new Map(due.map(({ id, seconds }) => [id, seconds]))).toEqual(
      new Map([
        [wrong.id, 5],
        [right.id, 2],
      ]),
    );
  });

  it('leaves clocks alone that are right, and locks that others have taken for longer', async () => {
    const { store, bullmq, maintenance } = parts;
    const locks = () => store.sql('SELECT id, locked_until_ms FROM bullmq.job ORDER BY id');
    for (const options of [{ lockDuration: HOUR_MS }, { name: WORKER_NAME, lockDuration: LOCK_MS }]) {
      await bullmq.queue.add([aMessage()]);
      await bullmq.take(options);
    }
    await store.sql(`UPDATE bullmq.meta SET value = $2 WHERE queue = $1 AND field = 'stalled-check'`, [
      ...[QUEUE_NAME, Date.now()],
    ]);
    const before = [await locks(), await store.sql('SELECT * FROM bullmq.meta ORDER BY field')];
    await maintenance.repairFutureTimestamps();
    expect([await locks(), await store.sql('SELECT * FROM bullmq.meta ORDER BY field')]).toEqual(before);
  });

  it('follows jobs by itself, as often as it is told to, and no more when it is closed', async () => {
    const { store, bullmq, follower } = parts;
    const [one, other] = [aMessage(), aMessage()];
    const deliver = async (message = one) => {
      await store.put(message);
      await bullmq.queue.add([message]);
      await (await bullmq.take())?.complete();
    };
    follower.start(10);
    await deliver();
    await store.until(async () => (await store.find(one))?.state.status === 'delivered');
    await follower.close();
    await deliver(other);
    await sleep(100);
    expect((await store.find(other))?.state.status).toBe('queued');
  });

  it('runs by itself, and no more when it is closed', async () => {
    const { store, reports, reconcilerAt } = parts;
    const reconciler = reconcilerAt(new TestClock(SENT_AT));
    await store.put(aMessage());
    reconciler.start(10);
    await store.until(() => reports.length > 0);
    expect(reports[0]).toEqual({ requeued: 1, followed: 0 });
    expect(await store.entries()).toHaveLength(1);
    await reconciler.close();
    await store.put(aMessage());
    await sleep(100);
    expect(await store.entries()).toHaveLength(1);
  });
});
