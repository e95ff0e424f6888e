import type { Job, WorkerOptions } from 'bullmq';
import type { BullMqJobQueue } from '#delivery/adapters/bullmq/bullmq-job-queue.js';
import { fromJob, type DeliveryJobData } from '#delivery/adapters/bullmq/delivery-job.js';
import type { QueueConnection, QueueShard } from '#delivery/adapters/bullmq/queue-connection.js';
import { RedisQueueConnection } from '#delivery/adapters/bullmq/redis/redis-queue-connection.js';
import { RedisJobQueue } from '#delivery/adapters/bullmq/redis/redis-job-queue.js';
import { PostgresJobQueue } from '#delivery/adapters/bullmq/postgres/postgres-job-queue.js';
import { PostgresQueueConnection } from '#delivery/adapters/bullmq/postgres/postgres-queue-connection.js';
import type { Database } from '#platform/database/database.js';
import type { RedisServers } from '#platform/redis/connect-redis.js';
import type { Job as DeliveryJob } from '#messages/application/delivering/deliveries.js';

export const QUEUE_NAME = 'contract';
export const POLICY = { maxAttempts: 5, backoffMs: 1_000, maxBackoffMs: 60_000 };

export const LOCK_MS = 200;
type StoreOfLeftJobs = Pick<Database, 'query' | 'transaction'>;

const NOTHING_LEFT: StoreOfLeftJobs = {
  query: () => Promise.resolve([]),
  transaction: () => Promise.reject(new Error('There is no queue on PostgreSQL.')),
};

/** The queue of a process is the current one. */
export const CURRENT = { isCurrent: true };
const TOKEN = 'token';

type Options = Partial<Omit<WorkerOptions, 'connection'>>;

/** What one process of Sluice has of BullMQ on PostgreSQL. */
export function openBullMq(url: string) {
  const options = { url, poolSize: 10, queueName: QUEUE_NAME, asynchronousCommit: true, onError: ignore };
  const connection = new PostgresQueueConnection(options);
  return openBullMqOn(connection, new PostgresJobQueue(connection, POLICY, LOCK_MS, CURRENT));
}

/** What one process of Sluice has of BullMQ on Redis. */
export async function openBullMqOnRedis(servers: RedisServers, shards = 1, database: StoreOfLeftJobs = NOTHING_LEFT) {
  const options = { ...servers, shards, queueName: QUEUE_NAME, onError: ignore, onEviction: ignore };
  const connection = new RedisQueueConnection(options);
  await connection.opened();
  return openBullMqOn(connection, new RedisJobQueue(database, connection, POLICY, LOCK_MS, CURRENT));
}

export type BullMqProcess = ReturnType<typeof openBullMqOn<QueueConnection>>;

function openBullMqOn<Connection extends QueueConnection>(connection: Connection, queue: BullMqJobQueue) {
  const shard: Connection['shards'][number] | undefined = connection.shards[0];
  if (shard === undefined) throw new Error('no shard');
  const bullmq = shard.queue;
  const workers: { close(): Promise<void> }[] = [];
  const takers = new Map<string, ReturnType<typeof open>>();
  const open = (processor: () => Promise<unknown>, options: Options, from: QueueShard = shard) => {
    const worker = from.createWorker(processor, { autorun: false, lockDuration: 60_000, ...options });
    worker.on('error', ignore);
    workers.push(worker);
    return worker;
  };
  let turn = 0;
  const takeFrom = async (shard: QueueShard, options: Options) => {
    const kind = JSON.stringify({ ...options, queue: shard.queue.name });
    const taker = takers.get(kind) ?? open(() => Promise.resolve(), options, shard);
    takers.set(kind, taker);
    return (await taker.getNextJob(TOKEN, { block: false })) as Job<DeliveryJobData> | undefined;
  };
  return {
    connection,
    /** The queue, or the first of several. */
    ...{ shard, bullmq },
    queue,

    /** A job, in whichever shard it is. */
    job: (jobId: string) => connection.shardOf(jobId).queue.getJob(jobId),

    /** The ids of the jobs that wait; on Redis, jobs with a turn wait in a separate set. */
    waiting: async () => {
      const all = await Promise.all(connection.shards.map(({ queue }) => queue.getJobs(['waiting', 'prioritized'])));
      return all.flat().map(({ id }) => id ?? '');
    },

    /** What workers get to see, by the ids of the jobs. */
    jobs: async () => {
      const jobs = new Map<string, DeliveryJob>();
      for (const { queue } of connection.shards) {
        // In pages: BullMQ reads each job by a query of its own, all at once.
        for (let start = 0; ; start += 100) {
          const page = await queue.getJobs(undefined, start, start + 99);
          if (page.length === 0) break;
          for (const { id = '', data } of page) jobs.set(id, fromJob(id, data as DeliveryJobData));
        }
      }
      return jobs;
    },

    /**
     * Takes the next job, if there is one, from the shards in turn, and lets the test end it.
     * @param options ours have a name; a worker without one is another program's
     */
    take: async (options: Options = {}) => {
      let job: Job<DeliveryJobData> | undefined;
      for (let tried = 0; job === undefined && tried < connection.shards.length; tried++) {
        job = await takeFrom(connection.shards[turn++ % connection.shards.length] ?? shard, options);
      }
      if (job === undefined) return null;
      return {
        id: job.id ?? '',
        replaceData: (data: unknown) => job.updateData(data as DeliveryJobData),
        // Ours return their name.
        complete: () => job.moveToCompleted(options.name ?? 'done', TOKEN, false),
        retry: () => job.moveToDelayed(1, TOKEN),
        fail: (reason: string) => job.moveToFailed(new Error(reason), TOKEN, false),
        // BullMQ recognizes the error by its name.
        failForGood: (reason: string) =>
          job.moveToFailed(Object.assign(new Error(reason), { name: 'UnrecoverableError' }), TOKEN, false),
      };
    },

    /** Completes each job. */
    run: (options: Options) => {
      const running = connection.shards.map((shard) => open(() => Promise.resolve(), options, shard));
      for (const worker of running) void worker.run();
      return { close: () => Promise.all(running.map((worker) => worker.close())) };
    },

    close: async () => {
      for (const worker of workers) await worker.close();
      await queue.close();
    },
  };
}

function ignore(): void {
  // These suites do not check what the parts report.
}
