// A worker without Sluice: bare BullMQ on Redis. Settings: REDIS_URL, REDIS_TOPOLOGY, and
// QUEUE_NAME, one or several names separated by commas.
import { Worker } from 'bullmq';
import { Cluster, Redis } from 'ioredis';

const { REDIS_URL = 'redis://127.0.0.1:6379', REDIS_TOPOLOGY, QUEUE_NAME = 'messages' } = process.env;
const forever = { maxRetriesPerRequest: null };
const urls = REDIS_URL.split(',');
const connection =
  REDIS_TOPOLOGY === 'cluster' ? new Cluster(urls, { redisOptions: forever }) : new Redis(REDIS_URL, forever);
const options = { connection, concurrency: 10, maxStalledCount: 1_000_000 };
const workers = QUEUE_NAME.split(',').map((name) => new Worker(name, attempt, options));

// BullMQ never ends an attempt that throws undefined or null, and has no reason from other things than errors.
async function attempt(job) {
  try {
    await deliver(job);
  } catch (error) {
    throw error instanceof Error ? error : new Error(String(error));
  }
}

async function deliver({ data: { v, id, message, type, metadata, orderingKey } }) {
  if (v !== 1) throw new Error(`Unknown job version ${v}.`);
  // Your work, at least once per id. Fields that were not sent are undefined.
  console.log(id, message, JSON.stringify({ type, metadata, orderingKey }));
}

for (const part of [connection, ...workers]) part.on('error', (error) => console.error(error.message));
const stop = () => Promise.all(workers.map((worker) => worker.close())).then(() => connection.disconnect());
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
await Promise.all(workers.map((worker) => worker.waitUntilReady()));
console.log('consuming');
