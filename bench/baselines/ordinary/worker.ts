/** The worker of the ordinary stack: it posts each message to RECEIVER_URL, and stores that it is delivered. */
import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { Message } from './entities.js';
import { NAME, serveWorker, workersOf } from './queue.js';

const { DATABASE_URL = '', REDIS_URL = '', RECEIVER_URL = '' } = process.env;
/** As in Sluice's worker. */
const CONCURRENCY = 50;

const source = await new DataSource({ type: 'postgres', url: DATABASE_URL, entities: [Message] }).initialize();
const messages = source.getRepository(Message);
const { Worker, connection } = workersOf(REDIS_URL, DATABASE_URL);
const worker = new Worker<{ id: string }>(
  NAME,
  async ({ data }) => {
    const response = await fetch(RECEIVER_URL, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': data.id },
      body: JSON.stringify(data),
    });
    if (!response.ok) throw new Error(`The receiver responded ${response.status}.`);
    await messages.update(data.id, { status: 'delivered' });
  },
  { connection, concurrency: CONCURRENCY },
);
await serveWorker(worker);
