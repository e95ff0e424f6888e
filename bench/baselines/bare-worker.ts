/** A bare BullMQ worker with an empty handler on the same queue. Notifies its parent after JOBS jobs. */
import { serveWorker, workersOf } from './ordinary/queue.js';

const { DATABASE_URL = '', REDIS_URL = '', QUEUE_NAME = 'messages' } = process.env;
const queue = workersOf(REDIS_URL, DATABASE_URL);
let since = 0;
let completed = 0;

const worker = new queue.Worker(
  QUEUE_NAME,
  () => {
    since ||= performance.now();
    return Promise.resolve();
  },
  {
    connection: queue.connection,
    concurrency: Number(process.env.CONCURRENCY),
    // As in Sluice's worker; keeping completed jobs would change the cost.
    removeOnComplete: { count: 0 },
  },
);
worker.on('completed', () => {
  completed++;
  if (completed === Number(process.env.JOBS)) process.send?.({ seconds: (performance.now() - since) / 1_000 });
});
await serveWorker(worker);
