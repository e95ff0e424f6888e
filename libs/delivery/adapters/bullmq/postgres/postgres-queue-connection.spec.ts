import { Client } from 'pg';
import { createTestDatabase } from '../../../../../test/support/database.js';
import { PostgresQueueConnection } from './postgres-queue-connection.js';

function open(url: string, asynchronousCommit: boolean) {
  return new PostgresQueueConnection({
    url,
    poolSize: 2,
    queueName: 'spec',
    asynchronousCommit,
    onError: () => undefined,
  });
}

/** Gives a database defaults on which no guarantee can rest. */
async function careless(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const database = new URL(url).pathname.slice(1);
  await client.query(`ALTER DATABASE ${database} SET default_transaction_isolation = serializable`);
  await client.query(`ALTER DATABASE ${database} SET synchronous_commit = local`);
  await client.end();
}

it('A connection of the queue ends no process when it is lost before BullMQ listens', async () => {
  const database = await createTestDatabase();
  const connection = open(database.url, false);
  const client = await connection.pool.connect();

  expect(client.emit('error', new Error('lost'))).toBe(true);
  client.release();
  await connection.close();
  await database.drop();
});

it.each([
  [false, 'on'],
  [true, 'off'],
])(
  'A connection of the queue with asynchronousCommit %s has synchronous_commit %s',
  async (asynchronously, expected) => {
    const database = await createTestDatabase();
    await careless(database.url);
    const connection = open(database.url, asynchronously);

    const { rows } = await connection.pool.query(
      `SELECT current_setting('synchronous_commit') AS commit, current_setting('transaction_isolation') AS isolation`,
    );
    expect(rows).toEqual([{ commit: expected, isolation: 'read committed' }]);
    await connection.close();
    await database.drop();
  },
);
