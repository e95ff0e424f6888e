import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import { RepeatedTask } from '#kernel/background-task.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { WORKER_NAME } from '#delivery/adapters/bullmq/delivery-job.js';
import { INSPECT } from '#delivery/adapters/bullmq/internals/postgres/job-ends.js';
import { PAGE } from '#delivery/adapters/postgres/postgres-stray-messages.js';
import { DELETE_EXPIRED_KEYS } from '#messages/adapters/postgres/sending/idempotency-keys.js';
import { PostgresReconciliation } from '#upkeep/adapters/postgres/postgres-reconciliation.js';
import type { Database } from '#platform/database/database.js';
import { aMessage, idempotency } from '../support/messages.js';
import { QUEUE_NAME } from './bullmq-process.js';
import { LOCK_MS, openReconciling, type Reconciling } from './reconciling-process.js';

const HOUR_MS = 3_600_000;

/** The blocks of tables and indexes that a statement reads. */
async function blocksRead(database: Database, statement: string, values: unknown[]): Promise<number> {
  const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: Record<`Shared ${'Hit' | 'Read'} Blocks`, number> }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`,
    values,
  );
  const plan = row?.['QUERY PLAN'][0].Plan;
  return (plan?.['Shared Hit Blocks'] ?? Infinity) + (plan?.['Shared Read Blocks'] ?? 0);
}

describe('The reconciler and the follower of jobs', () => {
  let parts: Reconciling;
  beforeAll(async () => {
    parts = await openReconciling();
  });
  beforeEach(() => parts.store.reset());
  afterAll(() => parts.close());

  it('deletes idempotency keys a day after their first use, by the clock of the database', async () => {
    const { store, messages, reconcile } = parts;
    for (const [key, age] of [
      ['young', '23:59'],
      ['old', '24:00'],
    ] as const) {
      await messages.add([aMessage()], idempotency(key));
      await store.sql('UPDATE sluice.idempotency_keys SET stored_at = now() - $2::interval WHERE key = $1', [key, age]);
    }
    jest.useFakeTimers({
      now: Date.now() + 25 * HOUR_MS,
      doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'performance'],
    });
    await reconcile().finally(() => jest.useRealTimers());
    expect(await store.sql('SELECT key FROM sluice.idempotency_keys')).toEqual([{ key: 'young' }]);
  });

  it('reads only expired keys to delete them, also where they were stored in the space of deleted ones', async () => {
    const { store, messages, database } = parts;
    const keys = (age: string) =>
      store.sql(
        `INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, created_at, stored_at)
         SELECT 'acct', gen_random_uuid(), sha256(n::text::bytea), 'msg', now(), now() - $1::interval
         FROM generate_series(1, 20000) AS n`,
        [age],
      );
    for (const age of ['25 hours', '1 hour']) await keys(age);
    await store.sql('VACUUM ANALYZE sluice.idempotency_keys');
    while (await messages.deleteExpiredKeys());
    await store.sql('VACUUM sluice.idempotency_keys');
    await keys('1 minute');
    expect(await blocksRead(database, DELETE_EXPIRED_KEYS, [24 * HOUR_MS, 10_000])).toBeLessThan(20);
  });

  it('reads no more than it checks, however many messages and jobs there are', async () => {
    const { store, database } = parts;
    await store.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
       SELECT 'msg_' || lpad(n::text, 26, '0'), 'acct', 'hello', 'queued', now(), now() FROM generate_series(1, 20000) AS n`,
    );
    await store.sql(
      `INSERT INTO bullmq.job (queue, id, seq, name, state, added_at_ms)
       SELECT $1, id, 1, 'message', 'waiting', 0 FROM sluice.messages`,
      [QUEUE_NAME],
    );
    await store.sql('ANALYZE sluice.messages, bullmq.job');
    const idOf = (n: number) => `msg_${String(n).padStart(26, '0')}`;
    const ids = Array.from({ length: 100 }, (_, n) => idOf(10_001 + n));
    const page = await blocksRead(database, PAGE, [idOf(10_000), 100]);
    const checked = page + (await blocksRead(database, INSPECT, [QUEUE_NAME, ids]));
    const stalled = await blocksRead(database, 'SELECT FROM bullmq.job WHERE queue = $1 AND stalled_marked', [
      QUEUE_NAME,
    ]);
    // Some for each look-up. All jobs have more than 500, and a look-up without an index reads half of them.
    expect(checked).toBeLessThan(700);
    expect(stalled).toBeLessThan(10);
  });

  it('runs each step even if another fails, and reports which', async () => {
    const { store, reconcile, bullmq } = parts;
    await store.put(aMessage());
    const failing = jest.spyOn(bullmq.queue, 'repairFutureTimestamps').mockRejectedValue(new Error('no'));
    await store.sql('ALTER TABLE sluice.idempotency_keys RENAME TO away');
    try {
      expect(await reconcile()).toEqual([
        ['repair_timestamps', expect.any(Error)],
        ['delete_keys', expect.any(Error)],
        { requeued: 1, followed: 0 },
      ]);
    } finally {
      failing.mockRestore();
      await store.sql('ALTER TABLE sluice.away RENAME TO idempotency_keys');
    }
  });

  it('runs no more steps once its turn is lost', async () => {
    const { store, newReconciler, reports } = parts;
    await store.put(aMessage());
    const lost = newReconciler().run(() => Promise.reject(new Error('lost')));
    await expect(lost).rejects.toThrow('lost');
    expect(reports).toEqual([]);
    const ends = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'idle in transaction'`;
    const taken = parts.reconciliation.take(0, async (keep) => {
      await keep();
      await store.sql(ends);
      await keep();
    });
    await expect(taken).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('runs in one process at a time, and in all of them together once in an interval', async () => {
    const { store, reconciliation } = parts;
    const other = new PostgresReconciliation((await store.process()).database);
    const ran: string[] = [];
    await store.sql(`UPDATE sluice.reconciler SET began_at = now() + interval '1 hour'`);
    await reconciliation.take(60_000, async () => {
      ran.push('one');
      await other.take(0, () => Promise.resolve(void ran.push('while one runs')));
    });
    await other.take(60_000, () => Promise.resolve(void ran.push('too soon')));
    await other.take(1, () => Promise.resolve(void ran.push('other')));
    expect(ran).toEqual(['one', 'other']);
  });

  it.each<[string, boolean, ((parts: Reconciling) => Promise<unknown>) | null]>([
    ['nothing is open', false, null],
    ['all messages are final', false, ({ store }) => store.put(aMessage({ status: 'delivered' }))],
    ['a message is queued', true, ({ store }) => store.put(aMessage())],
    [
      'a message waits for its time',
      true,
      ({ store }) => store.put(aMessage({ deliverAt: new Date(Date.now() + HOUR_MS) })),
    ],
    [
      ...(['a message is being delivered', true] as const),
      async ({ store }) => {
        await store.put(aMessage());
        const claim = `claim = gen_random_uuid(), claim_expires_at = now() + interval '1 minute'`;
        await store.sql(`UPDATE sluice.messages SET status = 'processing', attempts = 1, ${claim}`);
      },
    ],
    ['a message waits for endpoints', true, ({ store }) => store.put(aMessage({ delivery: 'webhooks' }))],
    ['a message waits for a lease', true, ({ store }) => store.put(aMessage({ delivery: 'pull' }))],
    ['a walk has not ended', true, ({ reconciliation }) => reconciliation.advance('msg_1', 0)],
    ['the last walk found strays', true, ({ reconciliation }) => reconciliation.advance('', 1)],
  ])('while the installation is quiet and %s, has work: %s', async (_what, hasWork, prepare) => {
    const { store, reconciliation } = parts;
    await reconciliation.advance('', 0);
    await store.sql(`UPDATE sluice.reconciler SET began_at = now() - interval '1 hour', strays = 0, strays_before = 0`);
    await prepare?.(parts);
    let ran = false;
    await reconciliation.take(60_000, () => Promise.resolve(void (ran = true)), true);
    expect(ran).toBe(hasWork);
    expect(await store.sql(`SELECT FROM sluice.reconciler WHERE began_at > now() - interval '1 minute'`)).toHaveLength(
      1,
    );
  });

  it('requeues many strays also when the queue has many events', async () => {
    const { store, strays, reconcile } = parts;
    await store.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
       SELECT 'msg_' || n, 'acct', 'hello', 'queued', now(), now() FROM generate_series(1, 500) AS n`,
    );
    await store.sql(
      `INSERT INTO bullmq.event (queue, event, data, created_at_ms)
       SELECT $1, 'added', jsonb_build_object('jobId', 'other_' || n), 0 FROM generate_series(1, 200000) AS n`,
      [QUEUE_NAME],
    );
    expect(await reconcile()).toEqual([{ requeued: 500, followed: 0 }]);
    expect(await strays.count()).toBe(0);
  });

  it('keeps the newest 10,000 events of the queue, and no more', async () => {
    const { store, follower } = parts;
    await store.sql('TRUNCATE bullmq.event');
    await store.sql(
      `INSERT INTO bullmq.event (queue, event, created_at_ms) SELECT $1, 'added', 0 FROM generate_series(1, 10500)`,
      [QUEUE_NAME],
    );
    await follower.execute();
    const [newest] = await store.sql<{ max: string }>('SELECT max(id) FROM bullmq.event');
    expect(await store.sql('SELECT count(*)::int, min(id) FROM bullmq.event')).toEqual([
      { count: 10_000, min: String(Number(newest?.max) - 9_999) },
    ]);
  });

  it('removes jobs from the queue a day after they ended, and only those', async () => {
    const { store, bullmq, reconcile } = parts;
    const [young, old, waiting] = [aMessage(), aMessage(), aMessage()];
    for (const message of [young, old]) {
      const finishedAt = Date.now() - (message === young ? 23 : 25) * HOUR_MS;
      await bullmq.queue.add([message]);
      await (await bullmq.take())?.complete();
      await store.sql('UPDATE bullmq.job SET finished_at_ms = $2 WHERE id = $1', [message.id, finishedAt]);
    }
    await bullmq.queue.add([waiting]);
    await store.sql('UPDATE bullmq.job SET added_at_ms = $1', [Date.now() - 25 * HOUR_MS]);
    await reconcile();
    expect([...(await bullmq.jobs()).keys()].sort()).toEqual([young.id, waiting.id].sort());
  });

  it('lets jobs be taken over again when a worker\u2019s clock was an hour ahead', async () => {
    const { store, bullmq, reconcile } = parts;
    const message = aMessage({ status: 'delivered' });
    await store.put(message);
    await bullmq.queue.add([message]);
    await bullmq.take({ name: WORKER_NAME, lockDuration: HOUR_MS });
    await store.sql(
      `INSERT INTO bullmq.meta (queue, field, value) VALUES ($1, 'stalled-check', $2)
       ON CONFLICT (queue, field) DO UPDATE SET value = excluded.value`,
      [QUEUE_NAME, Date.now() + HOUR_MS],
    );
    await reconcile();
    const next = bullmq.run({ name: WORKER_NAME, lockDuration: LOCK_MS, stalledInterval: 50 });
    await store.until(() => bullmq.bullmq.getJobState(message.id).then((state) => state === 'completed'));
    await next.close();
  });

  it('lets a job be repeated when it is due, also when the clock of the worker that failed it was an hour ahead', async () => {
    const { store, bullmq } = parts;
    const [wrong, right] = [aMessage(), aMessage()];
    await bullmq.queue.add([wrong, right]);
    const dueIn = (id: string, ms: number) =>
      store.sql(
        `UPDATE bullmq.job SET state = 'delayed', processed_by = $2, delay_ms = 65000, process_at_ms = $3 WHERE id = $1`,
        [id, WORKER_NAME, Date.now() + ms],
      );
    await dueIn(wrong.id, 65_000 + HOUR_MS);
    await dueIn(right.id, 35_000);
    await bullmq.queue.repairFutureTimestamps();
    const due = await store.sql<{ id: string; tens: number }>(
      `SELECT id, (process_at_ms - extract(epoch FROM clock_timestamp()) * 1000)::int / 10000 AS tens FROM bullmq.job`,
    );
    // In tens of seconds: what was right stays, what was wrong is due after its delay.
    expect(new Map(due.map(({ id, tens }) => [id, tens]))).toEqual(
      new Map([
        [wrong.id, 6],
        [right.id, 3],
      ]),
    );
  });

  it('ends a window of the rate limit that a clock an hour ahead has opened, and no other', async () => {
    const { store, bullmq } = parts;
    const isLimited = async (aheadMs: number) => {
      await store.sql('DELETE FROM bullmq.rate_limit');
      await bullmq.queue.add([aMessage()]);
      await store.sql('INSERT INTO bullmq.rate_limit VALUES ($1, 1000, $2)', [QUEUE_NAME, Date.now() + aheadMs]);
      await bullmq.queue.repairFutureTimestamps();
      return (await bullmq.take({ name: WORKER_NAME, limiter: { max: 1, duration: 1_000 } })) === null;
    };
    expect(await isLimited(HOUR_MS)).toBe(false);
    expect(await isLimited(50_000)).toBe(true);
    await bullmq.bullmq.setGlobalRateLimit(1_000, 2 * HOUR_MS);
    expect(await isLimited(HOUR_MS)).toBe(true);
    await bullmq.bullmq.removeGlobalRateLimit();
  });

  it('changes no timestamp that is right, and no lock that others have taken for longer', async () => {
    const { store, bullmq } = parts;
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
    await bullmq.queue.repairFutureTimestamps();
    expect(await stored()).toEqual(before);
  });

  it('follows jobs periodically, until the process stops', async () => {
    const { store, bullmq, follower } = parts;
    const [one, other] = [aMessage(), aMessage()];
    const deliver = async (message = one) => {
      await store.put(message);
      await bullmq.queue.add([message]);
      await (await bullmq.take())?.complete();
    };
    const running = new RepeatedTask({ intervalMs: 10, run: () => follower.run() }, ALWAYS_ACTIVE);
    await running.start();
    await deliver();
    await store.until(async () => (await store.find(one))?.state.status === 'delivered');
    await running.stop();
    await deliver(other);
    await sleep(100);
    expect((await store.find(other))?.state.status).toBe('queued');
  });

  it('reconciles periodically while it is allowed, until it is closed', async () => {
    const { store, reports, newReconciler } = parts;
    const reconciler = newReconciler();
    let isAllowed = false;
    await store.put(aMessage());
    reconciler.start(10, () => isAllowed);
    await sleep(100);
    expect(reports).toEqual([]);
    isAllowed = true;
    await store.until(() => reports.length > 0);
    expect(reports[0]).toEqual({ requeued: 1, followed: 0 });
    expect(await store.entries()).toHaveLength(1);
    await reconciler.close();
    await store.put(aMessage());
    await sleep(100);
    expect(await store.entries()).toHaveLength(1);
  });
});
