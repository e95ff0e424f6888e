import { setTimeout as sleep } from 'node:timers/promises';
import { NO_TURN } from '#delivery/application/fair-scheduler.js';
import { aMessage, jobOf, messages, TRACEPARENT } from '../support/messages.js';
import { NO_REDIS, serversAt, TestRedis, TestRedisCluster } from '../support/redis.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { openBullMq, openBullMqOnRedis, POLICY, type BullMqProcess } from './bullmq-process.js';
import { describeJobQueue, type JobQueueSubject } from './job-queue.contract.js';
import { InMemoryJobQueue } from './fakes/in-memory-job-queue.js';
import { PostgresStore } from './postgres-store.js';

function openInMemory(): Promise<JobQueueSubject> {
  const queue = new InMemoryJobQueue();
  const cutOff = new InMemoryJobQueue();
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
      queue.clear();
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
}

/** A server with a queue, and the processes on it. */
interface Served {
  open(): Promise<BullMqProcess>;
  /** A process that can't reach the server. */
  openCutOff(): Promise<BullMqProcess>;
  reset(): Promise<unknown>;
  close(): Promise<void>;
}

async function servePostgres() {
  const store = await PostgresStore.open();
  return {
    store,
    open: () => Promise.resolve(openBullMq(store.url)),
    openCutOff: () => Promise.resolve(openBullMq(store.url.replace(/:\d+\//, ':1/'))),
    reset: () => store.reset(),
    close: () => store.close(),
  };
}

async function serveRedis() {
  const redis = await TestRedis.start();
  return {
    redis,
    open: () => openBullMqOnRedis(redis.servers),
    openCutOff: () => openBullMqOnRedis(serversAt(['redis://127.0.0.1:1'], 'standalone')),
    reset: () => redis.run((client) => client.flushall()),
    close: () => redis.stop(),
  };
}

async function serveCluster() {
  const cluster = await TestRedisCluster.start();
  return {
    open: () => openBullMqOnRedis(cluster.servers, 3),
    openCutOff: () => openBullMqOnRedis(serversAt(['redis://127.0.0.1:1'], 'cluster'), 3),
    reset: () => cluster.flush(),
    close: () => cluster.stop(),
  };
}

async function openOn(serve: () => Promise<Served>): Promise<JobQueueSubject> {
  const server = await serve();
  const [one, other, cutOff] = await Promise.all([server.open(), server.open(), server.openCutOff()]);
  return {
    queue: one.queue,
    other: other.queue,
    cutOff: cutOff.queue,
    jobs: one.jobs,
    take: async () => (await one.take())?.id ?? null,
    reset: async () => {
      await server.reset();
    },
    close: async () => {
      for (const { close } of [one, other, cutOff]) await close();
      await server.close();
    },
  };
}

describeJobQueue('InMemoryJobQueue', openInMemory);
describeJobQueue('BullMQ on PostgreSQL', () => openOn(servePostgres));
describeJobQueue('BullMQ on Redis', () => openOn(serveRedis), { refusing: false, missing: NO_REDIS });
describeJobQueue('BullMQ on a cluster, in three shards', () => openOn(serveCluster), {
  ...{ refusing: false, missing: NO_REDIS, shards: 3 },
});

for (const [name, serve, missing] of [
  ['PostgreSQL', servePostgres, null],
  ['Redis', serveRedis, NO_REDIS],
] as const) {
  describeUnless(missing)(`BullMQ on ${name}`, () => {
    let server: Served;
    let process: BullMqProcess;
    beforeAll(async () => {
      server = await serve();
      process = await server.open();
    });
    afterAll(async () => {
      await process.close();
      await server.close();
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
      const { bullmq, shard, queue, close } = await server.open();
      const message = aMessage();
      const read = jest.spyOn(shard, 'view').mockRejectedValueOnce(new Error('no such column'));
      await queue.add([message]);
      expect(read).toHaveBeenCalled();
      expect(await bullmq.getJob(message.id)).toBeDefined();
      await close();
    });

    it('gives a retry that is due a turn: neither before nor behind the backlogs of others', async () => {
      const { bullmq, queue, take } = process;
      await server.reset();
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
      // Taking a job, one of the others, makes BullMQ move the jobs that are due.
      await take();
      await queue.giveTurns();
      const isRetry = new Set(retried.map(({ id }) => id));
      const taken = Array.from({ length: 99 }, async () => isRetry.has((await take())?.id ?? ''));
      expect((await Promise.all(taken)).filter(Boolean)).toHaveLength(50);
    });

    it('lets an account pass one that holds all places, whose messages take no more of them', async () => {
      const { queue } = process;
      await server.reset();
      const slow = messages(200, { accountId: 'acct_of_slow' });
      // One by one, the first of them have the express turn.
      for (const message of slow.slice(0, 20)) await queue.add([message]);
      await queue.add(slow.slice(20));
      const running = new Set<string>();
      const done = new Set<string>();
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const consuming = queue.consume(
        async ({ id, accountId }) => {
          if (accountId === 'acct_of_slow') {
            running.add(id);
            await ended;
          }
          done.add(id);
          return { kind: 'done' };
        },
        { concurrency: 10, rate: 0, lockMs: 60_000 },
        { isRight: true, onChange: () => undefined },
        { failed: () => undefined, stuck: () => undefined },
      );
      consuming.start();
      try {
        await until(() => running.size === 10, 60_000);
        const others = messages(40, { accountId: 'acct_of_quick' });
        for (let start = 0; start < 40; start += 10) await queue.add(others.slice(start, start + 10));
        await until(() => others.every(({ id }) => done.has(id)), 60_000);
        expect(running.size).toBe(10);
        end();
        await until(() => done.size === 240, 60_000);
      } finally {
        end();
        await consuming.close(5_000);
      }
    });

    it('adds a job that is due when the next attempt is, and that has a turn only then', async () => {
      const { bullmq, queue } = process;
      await server.reset();
      const nextAttempts = [-1_000, 30_000, 3_600_000].map((ms) => new Date(Date.now() + ms));
      const [due, waiting, atMost] = nextAttempts.map((nextAttemptAt) => aMessage({ nextAttemptAt, failures: 1 }));
      if (!due || !waiting || !atMost) throw new Error('too few');
      await queue.add([atMost, waiting, due]);
      const ids = [due, waiting, atMost].map(({ id }) => id);
      const jobs = await Promise.all(ids.map((id) => bullmq.getJob(id)));
      const states = await Promise.all(ids.map((id) => bullmq.getJobState(id)));
      expect(states).toEqual([expect.stringMatching(/waiting|prioritized/), 'delayed', 'delayed']);
      expect(jobs.map((job) => job?.priority === NO_TURN)).toEqual([false, true, true]);
      // The delay counts from when the job is added, a moment after it was computed.
      const dueAt = (jobs[1]?.timestamp ?? 0) + (jobs[1]?.delay ?? 0);
      expect(Math.abs(dueAt - Number(waiting.state.nextAttemptAt))).toBeLessThan(10_000);
      expect(jobs[2]?.delay).toBe(POLICY.maxBackoffMs);
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
  });
}

describe('BullMQ on PostgreSQL', () => {
  it('is unavailable while its table is locked', async () => {
    const { store, open, close } = await servePostgres();
    const { queue, close: end } = await open();
    await store.transaction('LOCK TABLE bullmq.job');
    await expect(queue.add(messages(2))).rejects.toMatchObject({ code: 'unavailable' });
    await store.reset();
    await queue.add(messages(2));
    await end();
    await close();
  });
});
