import { setTimeout as sleep } from 'node:timers/promises';
import { WORKER_NAME } from '#messages/adapters/bullmq/delivery-job.js';
import { aMessage, idempotency, SENT_AT, TestClock } from '../support/messages.js';
import { QUEUE_NAME } from './bullmq-process.js';
import { LOCK_MS, openReconciling, type Reconciling } from './reconciling-process.js';

const HOUR_MS = 3_600_000;

describe('The reconciler and the follower of jobs', () => {
  let parts: Reconciling;
  beforeAll(async () => {
    parts = await openReconciling();
  });
  beforeEach(() => parts.store.reset());
  afterAll(() => parts.close());

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
    const [young, old, waiting] = [aMessage(), aMessage(), aMessage()];
    for (const message of [young, old]) {
      const finishedAt = Date.now() - (message === young ? 23 : 25) * HOUR_MS;
      await bullmq.queue.add([message]);
      await (await bullmq.take())?.complete();
      await store.sql('UPDATE bullmq.job SET finished_at_ms = $2 WHERE id = $1', [message.id, finishedAt]);
    }
    await bullmq.queue.add([waiting]);
    await store.sql('UPDATE bullmq.job SET added_at_ms = $1', [Date.now() - 25 * HOUR_MS]);
    await reconciler.run();
    expect([...(await bullmq.jobs()).keys()].sort()).toEqual([young.id, waiting.id].sort());
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
    const due = await store.sql<{ id: string; tens: number }>(
      `SELECT id, (process_at_ms - extract(epoch FROM clock_timestamp()) * 1000)::int / 10000 AS tens FROM bullmq.job`,
    );
    // In tens of seconds: what was right stays, what was wrong is due after its delay.
    expect(new Map(due.map(({ id, tens }) => [id, tens]))).toEqual(
      new Map([
        [wrong.id, 5],
        [right.id, 2],
      ]),
    );
  });

  it('changes no timestamp that is right, and no lock that others have taken for longer', async () => {
    const { store, bullmq, maintenance } = parts;
    const stored = () =>
      Promise.all([
        store.sql('SELECT id, locked_until_ms FROM bullmq.job ORDER BY id'),
        store.sql('SELECT * FROM bullmq.meta ORDER BY field'),
      ]);
    for (const options of [{ lockDuration: HOUR_MS }, { name: WORKER_NAME, lockDuration: LOCK_MS }]) {
      await bullmq.queue.add([aMessage()]);
      await bullmq.take(options);
    }
    await store.sql(`UPDATE bullmq.meta SET value = $2 WHERE queue = $1 AND field = 'stalled-check'`, [
      ...[QUEUE_NAME, Date.now()],
    ]);
    const before = await stored();
    await maintenance.repairFutureTimestamps();
    expect(await stored()).toEqual(before);
  });

  it('follows jobs periodically, until it is closed', async () => {
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

  it('reconciles periodically, until it is closed', async () => {
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
