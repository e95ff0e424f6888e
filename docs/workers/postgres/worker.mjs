// A worker without Sluice: bare BullMQ on PostgreSQL. Settings: DATABASE_URL and QUEUE_NAME.
import { createPostgresBackend, withBackend } from 'bullmq';
import pg from 'pg';

const { DATABASE_URL: connectionString, QUEUE_NAME = 'messages' } = process.env;
const options = '-c search_path=bullmq -c default_transaction_isolation=read\\ committed';
const connection = new pg.Pool({ connectionString, options });
const { Worker } = withBackend(createPostgresBackend);
const worker = new Worker(QUEUE_NAME, attempt, {
  ...{ connection, concurrency: 10, lockDuration: 10_000, stalledInterval: 5_000 },
  ...{ maxStalledCount: 2_147_483_647, runRetryDelay: 1_000 },
});

// Without this, an attempt would be repeated for ever that throws undefined, or what PostgreSQL cannot store: U+0000 and
// halves of characters. For the same reason, nothing is returned.
async function attempt(job) {
  try {
    await deliver(job);
  } catch (thrown) {
    const storable = (text) => String(text).replaceAll('\0', '').toWellFormed();
    const { message = thrown, name, stack = '' } = Object(thrown);
    throw Object.assign(new Error(storable(message)), { name, stack: storable(stack) });
  }
}

async function deliver({ data: { v, id, message, type, metadata, orderingKey } }) {
  if (v !== 1) throw new Error(`Unknown job version ${v}.`);
  // Your work, at least once per id. Fields that were not sent are undefined.
  console.log(id, message, JSON.stringify({ type, metadata, orderingKey }));
}

for (const part of [worker, connection]) part.on('error', (error) => console.error(error.message));
const stop = () => worker.close().then(() => connection.end());
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
await worker.waitUntilReady();
console.log('consuming');
