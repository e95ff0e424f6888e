import { createPostgresBackend, Queue, runMigrations, withBackend, Worker, type ConnectionOptions } from 'bullmq';
import pg from 'pg';

export const NAME = 'messages';

/** A queue on Redis, the default of BullMQ; on PostgreSQL if Redis is not installed. */
export async function openQueue(
  redisUrl: string,
  databaseUrl: string,
): Promise<Pick<Queue, 'add' | 'getJobCounts' | 'close'>> {
  if (redisUrl !== '') {
    return new Queue(NAME, { connection: { url: redisUrl } });
  }
  const pool = poolOf(databaseUrl);
  await runMigrations(pool);
  const classes = withBackend(createPostgresBackend) as unknown as { Queue: typeof Queue };
  const queue = new classes.Queue(NAME, { connection: pool });
  const closeQueue = queue.close.bind(queue);
  // BullMQ does not close a pool that it was given.
  queue.close = async () => {
    await closeQueue();
    await pool.end();
  };
  return queue;
}

/** The class of its workers, and what they connect to. */
export function workersOf(
  redisUrl: string,
  databaseUrl: string,
): { readonly Worker: typeof Worker; readonly connection: ConnectionOptions } {
  if (redisUrl !== '') return { Worker, connection: { url: redisUrl, maxRetriesPerRequest: null } };
  const classes = withBackend(createPostgresBackend) as unknown as { Worker: typeof Worker };
  return { ...classes, connection: poolOf(databaseUrl) };
}

/** Runs a worker as the process of its parent: sends `ready`, and ends on SIGTERM or with the parent. */
export async function serveWorker(worker: Worker): Promise<void> {
  worker.on('error', (error) => {
    console.error(error);
  });
  process.once('disconnect', () => process.exit(0));
  process.once('SIGTERM', () => {
    void worker.close().then(() => process.exit(0));
  });
  await worker.waitUntilReady();
  process.send?.('ready');
}

function poolOf(databaseUrl: string): pg.Pool {
  return new pg.Pool({ connectionString: databaseUrl, options: '-c search_path=bullmq', max: 10 });
}
