import { Queue, Worker as PlainWorker, type Job, type Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { WORKER_NAME } from '#delivery/adapters/bullmq/delivery-job.js';
import { aMessage, messages, TRACEPARENT } from '../support/messages.js';
import { until } from '../support/processes.js';
import { NO_REDIS, TestRedis } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';
import { describeBatchingWorker } from './batching-worker.js';
import { openBullMqOnRedis, QUEUE_NAME } from './bullmq-process.js';

describeUnless(NO_REDIS)('Jobs on Redis in batches', () => {
  let redis: TestRedis;
  let client: Redis;
  let process: Awaited<ReturnType<typeof openBullMqOnRedis>>;
  const workers: Worker[] = [];
  beforeAll(async () => {
    redis = await TestRedis.start();
    client = new Redis(redis.url, { maxRetriesPerRequest: null });
  });
  beforeEach(async () => {
    await client.flushall();
    process = await openBullMqOnRedis(redis.servers);
  });
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.close();
    await process.close();
  });
  afterAll(async () => {
    client.disconnect();
    await redis.stop();
  });

  const soon = (holds: () => boolean | Promise<boolean>, otherwise: string) => until(holds, 60_000, () => otherwise);
  const left = async () => Object.values(await process.bullmq.getJobCounts()).reduce((sum, count) => sum + count, 0);

  /** Starts a worker that removes the jobs that it completes. */
  function work(run: (job: Job) => Promise<unknown>, concurrency = 50, autorun = true): Worker {
    const processor = (job: Job) => {
      job.opts.removeOnComplete = true;
      return run(job);
    };
    const worker = process.shard.createWorker(processor, {
      concurrency,
      autorun,
      lockDuration: 60_000,
      name: WORKER_NAME,
    });
    worker.on('error', () => undefined);
    workers.push(worker);
    return worker;
  }

  /** All that BullMQ has stored but for its events. */
  async function stored(): Promise<Record<string, unknown>> {
    const all: Record<string, unknown> = {};
    for (const key of (await client.keys('*')).sort()) {
      const type = await client.type(key);
      if (type === 'hash') {
        const { opts = '{}', ...fields } = await client.hgetall(key);
        if (!key.endsWith(':meta')) all[key] = { ...fields, opts: JSON.parse(opts) as unknown };
      } else if (type === 'zset') all[key] = await client.zrange(key, 0, -1, 'WITHSCORES');
      else if (type === 'list') all[key] = await client.lrange(key, 0, -1);
      else if (key.endsWith(':pc')) all[key] = await client.get(key);
    }
    return all;
  }

  it('runs every job once with two workers, many by one script', async () => {
    const sent = messages(1_000);
    await process.queue.add(sent);
    await client.config('RESETSTAT');
    const done: unknown[] = [];
    const run = (job: Job) => Promise.resolve(done.push(job.id));
    work(run);
    work(run);
    await soon(() => done.length >= 1_000, 'not all jobs were run');
    await soon(async () => (await left()) === 0, 'jobs were left');
    expect(done.sort()).toEqual(sent.map(({ id }) => id).sort());
    const [, scripts] = /cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats')) ?? [];
    expect(Number(scripts)).toBeLessThan(400);
    expect(await client.keys('*:msg_*')).toEqual([]);
  });

  it('stores the same as BullMQ', async () => {
    const plain = new Queue(QUEUE_NAME, { connection: client });
    const jobs = ['c', 'a', 'ä"\\\n💌', 'a', 'b'].map((jobId, index) => ({
      ...{ name: 'message', data: { text: `${jobId}"{}\\ 💌` } },
      opts: {
        ...{ jobId, attempts: index + 1, timestamp: 1, backoff: { type: 'custom' } },
        ...(index % 3 !== 1 && { priority: 7 + index, telemetry: { metadata: TRACEPARENT } }),
      },
    }));
    const found: unknown[] = [];
    for (const queue of [plain, process.bullmq]) {
      await client.flushall();
      const ids = (await queue.addBulk(jobs)).map(({ id }) => id);
      found.push([ids, await stored()]);
    }
    await plain.close();
    expect(found[1]).toEqual(found[0]);
    expect(Object.keys((found[1] as [unknown, object])[1])).toHaveLength(8);
  });

  it('gives a worker the same jobs, in the same order, as BullMQ', async () => {
    const special = aMessage({ traceparent: TRACEPARENT, text: 'ä"\\\n💌' });
    const sent = [special, ...messages(60), ...messages(3, { accountId: 'b' })];
    const plain = new PlainWorker(QUEUE_NAME, null, {
      ...{ connection: client, autorun: false, name: WORKER_NAME },
    });
    const ours = work(() => Promise.resolve(), 1, false);
    workers.push(plain);
    const taken: unknown[][] = [];
    for (const worker of [plain, ours]) {
      await client.flushall();
      // Of its own, since a queue remembers the turns that accounts have had.
      const adding = await openBullMqOnRedis(redis.servers);
      await adding.queue.add(sent);
      await adding.close();
      const jobs: unknown[] = [];
      for (;;) {
        const job = (await worker.getNextJob('token', { block: false })) as Job | undefined;
        if (job === undefined) break;
        expect(job.processedOn).toBeGreaterThan(0);
        expect(await client.get(`bull:${QUEUE_NAME}:${job.id ?? ''}:lock`)).toBe('token');
        jobs.push({ ...job.asJSON(), processedOn: 0, timestamp: 0, token: job.token, delay: job.delay });
      }
      taken.push(jobs);
    }
    expect(taken[0]).toHaveLength(64);
    expect(taken[1]).toEqual(taken[0]);
  });

  describeBatchingWorker({
    process: () => process,
    work,
    steal: (jobId) => client.set(`bull:${QUEUE_NAME}:${jobId}:lock`, 'another worker'),
  });

  it('completes by BullMQ what depends on other jobs', async () => {
    const done: unknown[] = [];
    const parent = await process.bullmq.add('message', {}, { jobId: 'parent' });
    const key = `${process.bullmq.qualifiedName}:parent:dependencies`;
    await client.sadd(key, 'child');
    const errors: Error[] = [];
    work((job) => Promise.resolve(done.push(job.id))).on('error', (error) => errors.push(error));
    await soon(() => errors.length > 0, 'no error was reported');
    expect(errors[0]?.message).toContain('pending');
    expect(await parent.getState()).not.toBe('completed');
  });
});
