import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { RedisJobQueue } from '#delivery/adapters/bullmq/redis/redis-job-queue.js';
import { WORKER_NAME } from '#delivery/adapters/bullmq/delivery-job.js';
import { PostgresCurrentQueue } from '#delivery/adapters/postgres/postgres-current-queue.js';
import { PostgresReconciliation } from '#upkeep/adapters/postgres/postgres-reconciliation.js';
import type { JobQueue } from '#delivery/application/job-queue.js';
import type { Message } from '#messages/domain/message.js';
import { NO_TURN } from '#delivery/application/fair-scheduler.js';
import { QueueRecovery } from '#upkeep/application/queue-recovery.js';
import { connectRedis, type RedisServers } from '#platform/redis/connect-redis.js';
import { RedisUnreachable, requireUsableRedis } from '#platform/redis/usable-redis.js';
import { readSettings } from '../../apps/settings.js';
import { SETTINGS } from '../support/api.js';
import { aClaim, aMessage, messages } from '../support/messages.js';
import { NO_REDIS, serversAt, TestRedis, TestRedisSentinels } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';
import { LOCK_MS, openBullMq, POLICY, type BullMqProcess } from './bullmq-process.js';
import { openReconciling, openReconcilingOnRedis } from './reconciling-process.js';

const HOUR_MS = 3_600_000;

describeUnless(NO_REDIS)('A queue on Redis', () => {
  let parts: Awaited<ReturnType<typeof openReconcilingOnRedis>>;
  let contents: JobQueue;
  beforeAll(async () => {
    parts = await openReconcilingOnRedis();
    contents = parts.bullmq.queue;
  });
  beforeEach(async () => {
    await parts.reset();
    await parts.store.sql(`DELETE FROM sluice.installation WHERE name = 'current_queue'`);
  });
  afterAll(() => parts.close());

  /** A message whose next attempt is due in half a minute. */
  const aRetried = () => aMessage({ attempts: 1, failures: 1, nextAttemptAt: new Date(Date.now() + 30_000) });

  /** Fails unless the job of this message is the only delayed one, and due at its time. */
  const expectDelayed = async ({ bullmq }: BullMqProcess, { id, state }: Message) => {
    const delayed = await bullmq.getDelayed();
    expect(delayed.map((job) => job.id)).toEqual([id]);
    const [{ timestamp, delay } = { timestamp: NaN, delay: NaN }] = delayed;
    // The delay counts from when the job is added, a moment after it was computed.
    expect(Math.abs(timestamp + delay - Number(state.nextAttemptAt))).toBeLessThan(10_000);
  };

  const recoveryOf = (
    queue: JobQueue,
    {
      database,
      strays,
      newReconciler,
      reconciliation,
    }: Pick<typeof parts, 'database' | 'strays' | 'newReconciler' | 'reconciliation'>,
  ) => {
    const reports: unknown[] = [];
    const observer = {
      currentQueueChanged: (isOurs: boolean) => reports.push(isOurs ? 'current' : 'replaced'),
      recovering: () => reports.push('recovering'),
      recovered: () => reports.push('recovered'),
      recoveryFailed: (error: unknown) => reports.push(error),
    };
    const reconciler = newReconciler();
    const current = new PostgresCurrentQueue(database);
    const recovery = new QueueRecovery(
      queue,
      strays,
      current,
      reconciliation,
      () => reconciler.requeueStrays(),
      observer,
    );
    return { recovery, reports, current };
  };

  it('has another identity after it lost its keys or was restarted, and only then', async () => {
    const { redis } = parts.queue;
    const seen = [await contents.identity(), await contents.identity()];
    expect(seen[1]).toEqual(seen[0]);
    await redis.run((client) => client.flushall());
    seen.push(await contents.identity());
    await redis.kill();
    await expect(contents.identity()).rejects.toThrow();
    await redis.restart();
    await parts.store.until(() =>
      contents.identity().then(
        () => true,
        () => false,
      ),
    );
    seen.push(await contents.identity());
    expect(new Set(seen.map((identity) => identity.contents)).size).toBe(3);
    expect(new Set(seen.map(({ dataSet }) => dataSet)).size).toBe(3);
  });

  it.each([
    ['its list', (redis: Redis, key: (name: string) => string) => redis.del(key('wait'), key('prioritized'))],
    [
      'all of its hash but what a worker has written since',
      async (redis: Redis, key: (name: string) => string, id: string) => {
        await redis.del(key(id));
        await redis.hset(key(id), 'pb', WORKER_NAME, 'processedOn', Date.now());
      },
    ],
  ])('gets a message back once when its job has lost %s', async (_part, lose) => {
    const { store, bullmq, strays, relay, queue, reconcile } = parts;
    const message = aMessage();
    await store.put(message);
    await bullmq.queue.add([message]);
    await queue.redis.run(async (redis) => {
      await lose(redis, (name) => queue.shard.key(name), message.jobId);
    });
    expect(await strays.count()).toBe(1);
    expect(await reconcile()).toEqual([{ requeued: 1, followed: 0 }]);
    await relay.sweep(0);
    expect(await strays.count()).toBe(0);
    expect(await reconcile()).toEqual([]);
    expect([...(await bullmq.jobs()).keys()]).toEqual([message.id]);
  });

  it('gets all open messages back after it has lost them, whatever the walk was doing, and no others', async () => {
    const { store, strays, bullmq, relay, queue } = parts;
    const { recovery, reports } = recoveryOf(contents, parts);
    const open = messages(50);
    for (const message of open) await store.put(message);
    await bullmq.queue.add(open);
    const scheduled = aMessage({ deliverAt: new Date(Date.now() + HOUR_MS) });
    const claimed = aMessage({ status: 'processing', claim: aClaim({ expiresAt: new Date(Date.now() + 60_000) }) });
    const retried = aRetried();
    for (const message of [scheduled, claimed, retried, aMessage({ status: 'delivered' })]) await store.put(message);
    await bullmq.queue.add([retried]);
    for (let check = 0; check < 3; check++) await recovery.check();
    expect(await store.entries()).toEqual([]);
    await parts.findStrays(20);
    reports.length = 0;
    await queue.redis.run((client) => client.flushall());
    await recovery.check();
    expect(reports).toEqual([]);
    await recovery.check();
    // The messages that were found may not have been requeued.
    expect(reports).toEqual(['recovering']);
    await recovery.check();
    expect(reports).toEqual(['recovering', 'recovered']);
    await recovery.check();
    expect(reports).toEqual(['recovering', 'recovered']);
    await relay.sweep(0);
    expect((await bullmq.waiting()).sort()).toEqual(open.map(({ id }) => id).sort());
    await expectDelayed(bullmq, retried);
    expect(await parts.reconcile()).toEqual([]);
    // The scheduled one, which this test has given no outbox entry.
    expect(await strays.count()).toBe(1);
  });

  it('adds no jobs and requeues no messages while another queue is the current one', async () => {
    const { store, database } = parts;
    const { recovery, reports, current } = recoveryOf(contents, parts);
    const queue = new RedisJobQueue(database, parts.queue.connection, POLICY, LOCK_MS, current);
    for (let check = 0; check < 4; check++) await recovery.check();
    reports.length = 0;
    await new PostgresCurrentQueue(database).check('another');
    await new PostgresReconciliation(database).setContents('another');
    const message = aMessage();
    await store.put(message);
    for (let check = 0; check < 3; check++) await recovery.check();
    expect(reports).toEqual(['replaced']);
    expect(await store.entries()).toEqual([]);
    await expect(queue.add([message])).rejects.toMatchObject({ code: 'unavailable' });
    await new PostgresCurrentQueue(database).check((await contents.identity()).dataSet);
    for (let check = 0; check < 4; check++) await recovery.check();
    expect(reports).toEqual(['replaced', 'current', 'recovering', 'recovered']);
    expect(await store.entries()).toHaveLength(1);
    await queue.add([message]);
  });

  it.each(['Redis', 'PostgreSQL'])('on %s: recovers only when the outbox is short enough to look', async (store) => {
    const one = store === 'Redis' ? parts : await openReconciling();
    const { recovery, reports } = recoveryOf(one.bullmq.queue, one);
    await new PostgresReconciliation(one.database).setContents('another');
    await one.store.put(aMessage());
    await one.store.sql(
      `INSERT INTO sluice.outbox (message_ids, bytes) SELECT ARRAY['msg_' || n], 1 FROM generate_series(1, 10001) n`,
    );
    for (let check = 0; check < 4; check++) await recovery.check();
    expect(reports).toEqual(['recovering']);
    await one.store.sql('DELETE FROM sluice.outbox');
    for (let check = 0; check < 2; check++) await recovery.check();
    expect(reports).toEqual(['recovering', 'recovered']);
    expect(await one.store.entries()).toHaveLength(1);
    if (one !== parts) await one.close();
  });

  it('requeues a message also after a crash between the removal of its dead job and its outbox entry', async () => {
    const { store, bullmq, reconcile, database } = parts;
    const message = aMessage();
    await store.put(message);
    await bullmq.queue.add([message]);
    await (await bullmq.take({ name: WORKER_NAME }))?.failForGood('The store is away.');
    const query = database.query.bind(database);
    const spied = jest.spyOn(database, 'query').mockImplementation(async (text, values) => {
      if (text.includes('INSERT INTO sluice.outbox')) throw new Error('away');
      return query(text, values);
    });
    await reconcile();
    spied.mockRestore();
    expect(await bullmq.jobs()).toEqual(new Map());
    expect(await reconcile()).toEqual([{ requeued: 1, followed: 0 }]);
  });

  it('publishes the jobs of our processes apart from those that it follows', async () => {
    const { bullmq, queue } = parts;
    const lengths = () =>
      Promise.all(['events', 'sluice-events'].map((name) => queue.shard.redis.xlen(queue.shard.key(name))));
    await bullmq.queue.add(messages(1));
    await (await bullmq.take({ name: WORKER_NAME }))?.complete();
    const [followed, ours] = await lengths();
    expect([followed, ours]).toEqual([0, expect.any(Number)]);
    await bullmq.queue.add(messages(1));
    await (await bullmq.take())?.complete();
    expect((await lengths())[0]).toBeGreaterThan(0);
  });

  it.each([null, '', 'x', 'null'])('gives up turns of retries whose jobs have %j as their data', async (data) => {
    const { redis } = parts.queue.shard;
    const prioritized = parts.queue.shard.key('prioritized');
    const [message] = messages(1);
    if (message === undefined) throw new Error('There is none.');
    await parts.bullmq.queue.add([message]);
    await redis.zadd(prioritized, NO_TURN * 2 ** 32 + 2, message.jobId, NO_TURN * 2 ** 32 + 1, 'broken');
    if (data !== null) await redis.hset(parts.queue.shard.key('broken'), { data });
    await parts.bullmq.queue.giveTurns();
    expect(await redis.zscore(prioritized, 'broken')).toBeNull();
    expect(Number(await redis.zscore(prioritized, message.jobId))).toBeLessThan(NO_TURN * 2 ** 32);
  });

  it('leaves a job to a worker that takes it while it is purged', async () => {
    const { bullmq, queue } = parts;
    const message = aMessage();
    await bullmq.queue.add([message]);
    const read = queue.shard.read.bind(queue.shard);
    const jobs: Awaited<ReturnType<typeof parts.take>>[] = [];
    const reading = jest.spyOn(queue.shard, 'read').mockImplementation(async (build) => {
      const result = await read<never>(build);
      if (jobs.length === 0) jobs.push(await parts.take('foreign'));
      return result;
    });
    expect(await bullmq.queue.purge([message.jobId])).toBe(1);
    reading.mockRestore();
    await jobs[0]?.complete();
    expect(await bullmq.queue.purge([message.jobId])).toBe(0);
  });

  it('keeps a connection that follows one that was lost without a response', async () => {
    const { shard, redis } = parts.queue;
    const options = { socketTimeout: 2_500, retryStrategy: () => 10, maxRetriesPerRequest: 0 };
    const first = connectRedis(redis.servers, options) as Redis;
    const client = first.duplicate();
    const id = await client.client('ID');
    const lost = client.blpop('never', 0).catch(() => undefined);
    await shard.redis.client('KILL', 'ID', id);
    await once(client, 'ready');
    const closed = jest.fn();
    client.on('close', closed);
    for (let pings = 0; pings < 30; pings++) {
      await client.ping();
      await sleep(100);
    }
    expect(closed).not.toHaveBeenCalled();
    for (const one of [first, client]) one.disconnect();
    await lost;
  });

  it.each(['Redis', 'PostgreSQL'])(
    'on %s: finds no stray in a message whose job is added while it looks',
    async (on) => {
      const one = on === 'Redis' ? parts : await openReconciling();
      const { store, strays, bullmq, database } = one;
      const message = aMessage();
      await store.put(message);
      const query = database.query.bind(database);
      const spied = jest.spyOn(database, 'query').mockImplementation(async (text, values) => {
        if (text.includes('AS seen')) await bullmq.queue.add([message]);
        return query(text, values);
      });
      expect(await one.findStrays(10)).toEqual([]);
      expect(await strays.count()).toBe(0);
      spied.mockRestore();
      if (one !== parts) await one.close();
    },
  );

  it('takes over the jobs of a queue on PostgreSQL: retries when they are due, those of workers when they are lost', async () => {
    const { store, relay, bullmq, strays } = parts;
    const before = openBullMq(store.url);
    const [running, retried, due, final, ...waiting] = messages(12);
    if (!running || !retried || !due || !final) throw new Error('too few');
    for (const message of [running, retried, due, ...waiting]) await store.put(message);
    await before.queue.add([running, retried, due]);
    const take = async (id: string) => {
      for (let left = 3; left > 0; left--) {
        const job = await before.take({ name: WORKER_NAME });
        if (job?.id === id) return;
      }
    };
    await take('none');
    const delayed = (id: string, ms: number) =>
      store.sql(`UPDATE bullmq.job SET state = 'delayed', process_at_ms = $2 WHERE id = $1`, [id, Date.now() + ms]);
    await delayed(retried.id, HOUR_MS);
    await delayed(due.id, -1);
    await before.queue.add([final, ...waiting]);
    while (await contents.takeOver((jobIds) => strays.requeueJobs(jobIds)));
    await relay.sweep(0);
    expect([...(await bullmq.jobs()).keys()].sort()).toEqual([due, ...waiting].map(({ id }) => id).sort());
    expect((await before.jobs()).size).toBe(2);
    expect(await strays.count()).toBe(0);
    expect(await parts.reconcile()).toEqual([]);
    await delayed(retried.id, -1);
    await store.sql('UPDATE bullmq.job SET locked_until_ms = 0 WHERE id = $1', [running.id]);
    while (await contents.takeOver((jobIds) => strays.requeueJobs(jobIds)));
    await relay.sweep(0);
    expect((await before.jobs()).size).toBe(0);
    expect((await bullmq.jobs()).size).toBe(3 + waiting.length);
    await before.close();
  });

  it('hands its messages over to a queue on PostgreSQL', async () => {
    const onPostgres = await openReconciling();
    const { store, database, bullmq, relay, strays } = onPostgres;
    const [left, retried] = [messages(5), aRetried()];
    for (const message of [...left, retried]) await store.put(message);
    await new PostgresReconciliation(database).setContents('redis of before');
    const { recovery, reports } = recoveryOf(onPostgres.bullmq.queue, onPostgres);
    for (let check = 0; check < 4; check++) await recovery.check();
    expect(reports).toEqual(['recovering', 'recovered']);
    await relay.sweep(0);
    expect((await bullmq.waiting()).sort()).toEqual(left.map(({ id }) => id).sort());
    await expectDelayed(bullmq, retried);
    expect(await onPostgres.reconcile()).toEqual([]);
    expect(await strays.count()).toBe(0);
    await onPostgres.close();
  });

  it('removes jobs a day after they ended, and only those', async () => {
    const { bullmq, reconcile, queue } = parts;
    const [young, old, waiting] = [aMessage(), aMessage(), aMessage()];
    for (const message of [young, old]) {
      await bullmq.queue.add([message]);
      await (await bullmq.take())?.complete();
      const finishedAt = Date.now() - (message === young ? 23 : 25) * HOUR_MS;
      await queue.shard.redis.zadd(queue.shard.key('completed'), finishedAt, message.id);
    }
    await bullmq.queue.add([waiting]);
    await reconcile();
    expect([...(await bullmq.jobs()).keys()].sort()).toEqual([young.id, waiting.id].sort());
  });

  it('repeats a job when it is due, also when the clock of the worker that failed it was an hour ahead', async () => {
    const { bullmq, queue } = parts;
    const { redis } = queue.shard;
    const key = (name: string) => queue.shard.key(name);
    const sent = messages(3);
    await bullmq.queue.add(sent);
    const dueIn = [60_000 + HOUR_MS, 30_000, 60_000 + HOUR_MS];
    for (const [index, { id }] of sent.entries()) {
      await redis.lrem(key('wait'), 0, id);
      await redis.hset(key(id), { delay: 60_000, pb: index === 2 ? 'foreign' : WORKER_NAME });
      await redis.zadd(key('delayed'), (Date.now() + (dueIn[index] ?? 0)) * 4_096, id);
    }
    await bullmq.queue.repairFutureTimestamps();
    const scores = await Promise.all(sent.map(({ id }) => redis.zscore(key('delayed'), id)));
    const inSeconds = scores.map((score) => Math.ceil((Number(score) / 4_096 - Date.now()) / 10_000) * 10);
    expect(inSeconds).toEqual([60, 30, 3_660]);
  });

  it('adds nothing while it is nearly full, and reports a policy that deletes jobs', async () => {
    const { bullmq, queue } = parts;
    const { server, redis } = queue.shard;
    const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
    await redis.config('SET', 'maxmemory', Math.round(used * 1.05), 'maxmemory-policy', 'allkeys-lru');
    await server.check();
    expect(server).toMatchObject({ isNearlyFull: true, eviction: 'allkeys-lru' });
    await expect(bullmq.queue.add(messages(1))).rejects.toMatchObject({ code: 'unavailable' });
    await redis.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction');
    await server.check();
    await bullmq.queue.add(messages(1));
  });
});

describeUnless(NO_REDIS)('REDIS_URL', () => {
  const refusal = (urls: string[], topology: RedisServers['topology'], sentinel = {}) => {
    const servers = serversAt(urls, topology);
    return requireUsableRedis({ ...servers, sentinel: { ...servers.sentinel, ...sentinel } }).then(
      () => null,
      (error: unknown) => error as Error,
    );
  };
  let redis: TestRedis;
  let sentinels: TestRedisSentinels;
  beforeAll(async () => {
    [redis, sentinels] = await Promise.all([TestRedis.start('--requirepass', 'right'), TestRedisSentinels.start()]);
  });
  afterAll(() => Promise.all([redis.stop(), sentinels.stop()]));

  it('is checked, and its password is in no error', async () => {
    expect(await refusal([redis.url], 'standalone')).toBeNull();
    expect((await refusal([redis.url], 'cluster'))?.message).toMatch(
      /is a single server: set REDIS_TOPOLOGY to standalone/,
    );
    for (const secret of ['', ':wrong-secret@']) {
      const error = await refusal([redis.url.replace(':right@', secret)], 'standalone');
      expect(error?.message).toMatch(/user and password/);
      expect(JSON.stringify(error) + String(error?.stack)).not.toContain('wrong-secret');
    }
    expect(await refusal(['redis://127.0.0.1:1'], 'standalone')).toBeInstanceOf(RedisUnreachable);
  });

  it('is checked with sentinels: their password, the name of the master, and its password', async () => {
    const { redis: right } = readSettings({ ...SETTINGS, DATABASE_URL: 'postgres://host/db', ...sentinels.settings });
    if (right === null) throw new Error('There is no Redis.');
    const { urls, sentinel } = right;
    expect(await refusal([...urls], 'sentinel', sentinel)).toBeNull();
    const refused = async (...change: Parameters<typeof refusal>) => {
      const error = await refusal(...change);
      expect(JSON.stringify(error) + String(error?.stack)).not.toMatch(/wrong-secret|of%redis|of%sentinels/);
      return error?.message;
    };
    expect(await refused([...urls], 'sentinel', { ...sentinel, master: 'other' })).toMatch(/set REDIS_SENTINEL_MASTER/);
    for (const password of [null, 'wrong-secret'])
      expect(await refused([...urls], 'sentinel', { ...sentinel, password })).toMatch(/REDIS_SENTINEL_PASSWORD/);
    const others = urls.map((url) => url.replace(/:[^:@]+@/, ':wrong-secret@'));
    expect(await refused(others, 'sentinel', sentinel)).toMatch(/user and password/);
    expect(await refused([redis.url], 'sentinel', { password: 'right' })).toMatch(/set REDIS_TOPOLOGY to standalone/);
    const [, url = ''] = urls;
    const asServer = url.replace(/:[^:@]+@/, `:${encodeURIComponent(TestRedisSentinels.SENTINEL_PASSWORD)}@`);
    expect(await refused([asServer.replace('/1', '')], 'standalone')).toMatch(/set REDIS_TOPOLOGY to sentinel/);
  });
});
