import type { Job, WorkerOptions } from 'bullmq';
import { BullMqDeliveryQueue } from '#messages/adapters/bullmq/bullmq-delivery-queue.js';
import { fromJob, type DeliveryJobData } from '#messages/adapters/bullmq/delivery-job.js';
import type { QueueConnection } from '#messages/adapters/bullmq/queue-connection.js';
import { RedisQueueConnection } from '#messages/adapters/bullmq/redis/redis-queue-connection.js';
import { PostgresQueueConnection } from '#messages/adapters/bullmq/postgres/postgres-queue-connection.js';
import type { Job as DeliveryJob } from '#messages/application/deliveries.js';

export const QUEUE_NAME = 'contract';
export const POLICY = { maxAttempts: 5, backoffMs: 1_000, maxBackoffMs: 60_000 };
const TOKEN = 'token';

type Options = Partial<Omit<WorkerOptions, 'connection'>>;

/** What one process of Sluice has of BullMQ on PostgreSQL. */
export function openBullMq(url: string) {
  const options = { url, poolSize: 10, queueName: QUEUE_NAME, asynchronousCommit: true, onError: ignore };
  return openBullMqOn(new PostgresQueueConnection(options));
}

/** What one process of Sluice has of BullMQ on Redis. */
export async function openBullMqOnRedis(url: string) {
  const connection = new RedisQueueConnection({ url, queueName: QUEUE_NAME, onError: ignore, onEviction: ignore });
  await connection.opened();
  return openBullMqOn(connection);
}

export type BullMqProcess = ReturnType<typeof openBullMqOn<QueueConnection>>;

function openBullMqOn<Connection extends QueueConnection>(connection: Connection) {
  const bullmq = connection.queue;
  const workers: { close(): Promise<void> }[] = [];
  const takers = new Map<string, ReturnType<typeof open>>();
  const open = (processor: () => Promise<unknown>, options: Options) => {
    const worker = connection.createWorker(processor, { autorun: false, lockDuration: 60_000, ...options });
    worker.on('error', ignore);
    workers.push(worker);
    return worker;
  };
  return {
    connection,
    bullmq,
    queue: new BullMqDeliveryQueue(connection, POLICY),

    /** What workers get to see, by the ids of the jobs. */
    jobs: async () => {
      const jobs = new Map<string, DeliveryJob>();
      // In pages: BullMQ reads each job by a query of its own, all at once.
      for (let start = 0; ; start += 100) {
        const page = await bullmq.getJobs(undefined, start, start + 99);
        if (page.length === 0) return jobs;
        for (const { id = '', data } of page) jobs.set(id, fromJob(id, data as DeliveryJobData));
      }
    },

    /**
     * Takes the next job, if there is one, and lets the test end it.
     * @param options ours have a name; a worker without one is another program's
     */
    take: async (options: Options = {}) => {
      const kind = JSON.stringify(options);
      const taker = takers.get(kind) ?? open(() => Promise.resolve(), options);
      takers.set(kind, taker);
      const job = (await taker.getNextJob(TOKEN, { block: false })) as Job<DeliveryJobData> | undefined;
      if (job === undefined) return null;
      return {
        id: job.id ?? '',
        // Ours return their name.
        complete: () => job.moveToCompleted(options.name ?? 'done', TOKEN, false),
        fail: (reason: string) => job.moveToFailed(new Error(reason), TOKEN, false),
        // BullMQ recognizes the error by its name.
        failForGood: (reason: string) =>
          job.moveToFailed(Object.assign(new Error(reason), { name: 'UnrecoverableError' }), TOKEN, false),
      };
    },

    /** Completes each job. */
    run: (options: Options) => {
      const worker = open(() => Promise.resolve(), options);
      void worker.run();
      return worker;
    },

    close: async () => {
      for (const worker of workers) await worker.close();
      await connection.onApplicationShutdown();
    },
  };
}

function ignore(): void {
  // These suites do not check what the parts report.
}
