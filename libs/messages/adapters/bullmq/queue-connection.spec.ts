import { createTestDatabase } from '../../../../test/support/database.js';
import { QueueConnection } from './queue-connection.js';

function open(url: string, asynchronousCommit: boolean) {
  return new QueueConnection({ url, poolSize: 2, queueName: 'spec', asynchronousCommit, onError: () => undefined });
}

it('A connection of the queue ends no process when it is lost before BullMQ listens', async () => {
  const database = await createTestDatabase();
  const connection = open(database.url, false);
  const client = await connection.pool.connect();

  expect(client.emit('error', new Error('lost'))).toBe(true);
  client.release();
  await connection.onApplicationShutdown();
  await database.drop();
});

it.each([
  [false, 'on'],
  [true, 'off'],
])(
  'A connection of the queue with asynchronousCommit %s has synchronous_commit %s',
  async (asynchronously, expected) => {
    const database = await createTestDatabase();
    const connection = open(database.url, asynchronously);

    const { rows } = await connection.pool.query<{ synchronous_commit: string }>('SHOW synchronous_commit');
    expect(rows).toEqual([{ synchronous_commit: expected }]);
    await connection.onApplicationShutdown();
    await database.drop();
  },
);
