import { createTestDatabase } from '../../../../test/support/database.js';
import { openQueueConnection } from './queue-connection.js';

it('A connection of the queue ends no process when it is lost before BullMQ listens', async () => {
  const database = await createTestDatabase();
  const connection = openQueueConnection(database.url, 2, () => undefined);
  const client = await connection.pool.connect();

  expect(client.emit('error', new Error('lost'))).toBe(true);
  client.release();
  await connection.close();
  await database.drop();
});
