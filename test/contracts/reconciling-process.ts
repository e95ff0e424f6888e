import { WORKER_NAME } from '#delivery/adapters/bullmq/delivery-job.js';
import { PostgresStrayMessages } from '#delivery/adapters/postgres/postgres-stray-messages.js';
import { PostgresEventLog } from '#events/adapters/postgres/postgres-event-log.js';
import { PostgresStuckKeys } from '#messages/adapters/postgres/order/postgres-stuck-keys.js';
import { PostgresExpiredLeases } from '#messages/adapters/postgres/leases/postgres-expired-leases.js';
import { PostgresReconciliation } from '#upkeep/adapters/postgres/postgres-reconciliation.js';
import { EndExpiredLeases } from '#pull/application/end-expired-leases.js';
import { JobFollower } from '#upkeep/application/job-follower.js';
import { Reconciler } from '#upkeep/application/reconciler.js';
import type { RedisQueueConnection } from '#delivery/adapters/bullmq/redis/redis-queue-connection.js';
import type { RedisShard } from '#delivery/adapters/bullmq/internals/redis/redis-shard.js';
import { Database } from '#platform/database/database.js';
import { TestRedis, TestRedisCluster } from '../support/redis.js';
import { LOCK_MS, openBullMq, openBullMqOnRedis, type BullMqProcess } from './bullmq-process.js';
import { PostgresStore } from './postgres-store.js';

const atOnce = { count: 0 };
/** Ours, another program's, and one that removes a job when it has ended. */
const workers = {
  ours: { name: WORKER_NAME },
  foreign: {},
  'tidy foreign': { removeOnComplete: atOnce, removeOnFail: atOnce },
};

export { LOCK_MS };

/** A queue, and what is done to it. */
interface Queueing {
  readonly bullmq: BullMqProcess;
  /** Removes a job behind the back of everybody. */
  lose(jobId: string): Promise<unknown>;
  /** Empties the queue. */
  empty(): Promise<unknown>;
  close(): Promise<void>;
}

/** In the database of the store, which empties and closes it. */
function queueOnPostgres(store: PostgresStore): Promise<Queueing> {
  const bullmq = openBullMq(store.url);
  return Promise.resolve({
    bullmq,
    lose: (jobId) => store.sql('DELETE FROM bullmq.job WHERE id = $1', [jobId]),
    empty: () => Promise.resolve(),
    close: () => bullmq.close(),
  });
}

async function queueOnRedis({
  url,
}: PostgresStore): Promise<Queueing & { redis: TestRedis; connection: RedisQueueConnection; shard: RedisShard }> {
  const redis = await TestRedis.start();
  const left = await Database.connect({ url, poolSize: 2, applicationName: 'contract', onError: () => undefined });
  const bullmq = await openBullMqOnRedis(redis.servers, 1, left);
  const { connection, shard } = bullmq;
  return {
    ...{ redis, bullmq, connection, shard },
    lose: (jobId) => bullmq.bullmq.remove(jobId),
    empty: () => redis.run((client) => client.flushall()),
    close: async () => {
      await bullmq.close();
      await left.close();
      await redis.stop();
    },
  };
}

async function queueOnCluster(): Promise<Queueing> {
  const cluster = await TestRedisCluster.start();
  const bullmq = await openBullMqOnRedis(cluster.servers, 3);
  const { connection } = bullmq;
  return {
    bullmq,
    lose: (jobId) => connection.shardOf(jobId).queue.remove(jobId),
    empty: () => cluster.flush(),
    close: async () => {
      await bullmq.close();
      await cluster.stop();
    },
  };
}

/** A process on a store and a queue, with a reconciler and a follower of jobs that do not run by themselves. */
export function openReconciling() {
  return openOn(queueOnPostgres);
}

/** The same with the queue on a Redis. */
export function openReconcilingOnRedis() {
  return openOn(queueOnRedis);
}

/** The same with the queue in three shards on a cluster. */
export function openReconcilingOnCluster() {
  return openOn(queueOnCluster);
}

async function openOn<Queue extends Queueing>(openQueue: (store: PostgresStore) => Promise<Queue>) {
  const store = await PostgresStore.open();
  const queue = await openQueue(store);
  const { bullmq } = queue;
  const process = await store.process(bullmq.queue);
  const { database, deliveries, messages } = process;
  const strays = new PostgresStrayMessages(database, bullmq.queue);
  const reports: unknown[] = [];
  const reconciliation = new PostgresReconciliation(database);
  const expired = new EndExpiredLeases(new PostgresExpiredLeases(database, { maxAttempts: 5 }, process.availability), {
    expired: (leases) => leases > 0 && reports.push({ expired: leases }),
  });
  const keys = new PostgresStuckKeys(database, process.releases);
  const newReconciler = () =>
    new Reconciler(
      strays,
      bullmq.queue,
      deliveries,
      messages,
      new PostgresEventLog(database, process.reads),
      expired,
      keys,
      reconciliation,
      {
        healed: (what) => reports.push(what),
        failed: (step, error) => reports.push([step, error]),
      },
    );
  const follower = new JobFollower(bullmq.queue, strays, deliveries, {
    followingFailed: (error) => reports.push(error),
  });
  return {
    ...{ ...process, store, queue, bullmq, strays, reports, reconciliation, newReconciler, follower },
    /** The ends of jobs by other programs whose messages are open. */
    readEnds: async (from: string | null) => {
      const { ends, position } = await bullmq.queue.readEnds(from);
      return { ends: await strays.endsOfOpen(ends), position };
    },
    /** Runs all steps; resolves to what they report. */
    reconcile: async (): Promise<unknown[]> => {
      reports.length = 0;
      await newReconciler().run(() => Promise.resolve());
      return reports.splice(0);
    },
    /** The next step of the walk; resolves to the strays that it found. */
    findStrays: async (limit: number) => {
      const page = await strays.findAfter(await reconciliation.position(), limit);
      if (page === null) return [];
      await reconciliation.advance(page.position, page.strays.length);
      return page.strays;
    },
    take: (whose: keyof typeof workers) => bullmq.take(workers[whose]),
    reset: async () => {
      await store.reset();
      await queue.empty();
    },
    close: async () => {
      await queue.close();
      await store.close();
    },
  };
}

export type Reconciling = Awaited<ReturnType<typeof openOn<Queueing>>>;
