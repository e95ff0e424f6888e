import type { Database } from '#platform/database/database.js';
import { PostgresStore } from './postgres-store.js';

describe('Two statements that wait for each other', () => {
  let store: PostgresStore;
  let database: Database;
  beforeAll(async () => {
    store = await PostgresStore.open();
    ({ database } = await store.process());
  });
  afterAll(() => store.close());

  it('both succeed: the one that the server chooses is repeated', async () => {
    const lock = (first: number, second: number) =>
      database.query(
        `SELECT pg_advisory_xact_lock(${first}), (SELECT pg_sleep(0.2)), (SELECT pg_advisory_xact_lock(${second}))`,
      );
    const before = await deadlocks();
    // One may wait for its connection for so long that the other has ended.
    await store.until(async () => {
      expect((await Promise.all([lock(101, 102), lock(102, 101)])).flat()).toHaveLength(2);
      return (await deadlocks()) > before;
    });
  });

  async function deadlocks(): Promise<number> {
    await store.sql('SELECT pg_stat_force_next_flush()').catch(() => undefined);
    const [row] = await store.sql<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    return Number(row?.deadlocks);
  }
});
