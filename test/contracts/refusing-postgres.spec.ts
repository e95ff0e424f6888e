import { aMessage } from '../support/messages.js';
import { openBullMq, type BullMqProcess } from './bullmq-process.js';
import { PostgresStore } from './postgres-store.js';

describe('The queue on PostgreSQL takes no job, and blames none,', () => {
  let store: PostgresStore;
  let process: BullMqProcess;
  beforeAll(async () => {
    store = await PostgresStore.open();
    process = openBullMq(store.url);
  });
  afterAll(async () => {
    await process.close();
    await store.close();
  });

  it.each([
    ['its table is', 'ALTER TABLE bullmq.job RENAME TO gone', 'ALTER TABLE bullmq.gone RENAME TO job'],
    [
      'a column is',
      'ALTER TABLE bullmq.job RENAME COLUMN priority TO gone',
      'ALTER TABLE bullmq.job RENAME COLUMN gone TO priority',
    ],
    ['its sequence is', 'ALTER SEQUENCE bullmq.job_seq RENAME TO gone', 'ALTER SEQUENCE bullmq.gone RENAME TO job_seq'],
    ['its schema is', 'ALTER SCHEMA bullmq RENAME TO gone', 'ALTER SCHEMA gone RENAME TO bullmq'],
  ])('while %s gone', async (_what, harm, repair) => {
    await store.sql(harm);
    await expect(process.queue.add([aMessage()])).rejects.toMatchObject({ code: 'unavailable' });
    await store.sql(repair);
    await expect(process.queue.add([aMessage()])).resolves.toBeUndefined();
  });
});
