import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.js';
import { Link } from '../../../test/support/link.js';
import { CONNECTION_LIMITS, Database, STARTING_TIMEOUT_MS } from './database.js';

describe('Database', () => {
  let test: TestDatabase;
  let database: Database;
  const lost: Error[] = [];

  const connect = (url: string) =>
    Database.connect({ url, poolSize: 2, applicationName: 'spec', onError: (error) => lost.push(error) });
  const rows = () => database.query<{ n: number }>('SELECT n FROM things ORDER BY n');
  /** Ends every connection of the database under test but the one that does it. */
  const cutOff = () =>
    database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'spec' AND datname = current_database() AND pid <> pg_backend_pid()`);

  beforeAll(async () => {
    test = await createTestDatabase();
    database = await connect(test.url);
    await database.query('CREATE TABLE things (n int PRIMARY KEY)');
  });
  beforeEach(() => database.query('TRUNCATE things'));
  afterAll(async () => {
    await database.close();
    await test.drop();
  });

  it('answers with rows, to a statement with values and to one that is prepared', async () => {
    expect(await database.query('SELECT $1::int AS n', [7])).toEqual([{ n: 7 }]);
    for (const n of [1, 2, 3]) expect(await database.prepared('one', 'SELECT $1::int AS n', [n])).toEqual([{ n }]);
  });

  it('commits what a transaction did, and resolves to its result', async () => {
    const done = await database.transaction(async (client) => {
      await client.query('INSERT INTO things VALUES (1)');
      return 'done';
    });
    expect(done).toBe('done');
    expect(await rows()).toEqual([{ n: 1 }]);
  });

  it('undoes a transaction that fails, and gives its connection back, however often', async () => {
    for (let time = 0; time < 5; time++) {
      const failed = database.transaction(async (client) => {
        await client.query('INSERT INTO things VALUES (1)');
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');
    }
    expect(await rows()).toEqual([]);
  });

  it('ends no process when a connection is lost that nobody listens to', async () => {
    // Without a listener this would throw, in a process as an exception that nobody catches.
    const told = await database.transaction((client) => Promise.resolve(client.emit('error', new Error('lost'))));
    expect(told).toBe(true);
  });

  it('says what was wrong with a statement, as the database says it', async () => {
    await expect(database.query('SELECT nothing')).rejects.toMatchObject({ code: '42703' });
    await expect(database.prepared('bad', 'SELECT nothing', [])).rejects.toMatchObject({ code: '42703' });
    await expect(database.transaction((client) => client.query('SELECT nothing'))).rejects.toMatchObject({
      code: '42703',
    });
  });

  it('says that it is away when a connection is lost in a transaction, and works on with another', async () => {
    for (let time = 0; time < 3; time++) {
      const cut = database.transaction(async (client) => {
        await client.query('INSERT INTO things VALUES (1)');
        await cutOff();
        await client.query('SELECT 1');
      });
      await expect(cut).rejects.toMatchObject({ code: 'unavailable' });
    }
    expect(await rows()).toEqual([]);
  });

  it('says that it is away when nobody listens there, or nobody answers in time', async () => {
    const nowhere = test.url.replace(/:\d+\//, ':1/');
    await expect(connect(nowhere)).rejects.toMatchObject({ code: 'unavailable' });
    const holding = database.transaction(async (client) => {
      await client.query(`SET LOCAL statement_timeout = 50`);
      await client.query('SELECT pg_sleep(5)');
    });
    await expect(holding).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('has more patience with its first connection than with those that somebody waits for', async () => {
    const link = new Link();
    const url = await link.open(test.url);
    link.stall();
    const connecting = connect(url);
    await sleep(CONNECTION_LIMITS.connectionTimeoutMillis + 500);
    link.resume();
    const late = await connecting;
    await late.transaction(async () => {
      link.stall();
      const asked = performance.now();
      await expect(late.query('SELECT 1')).rejects.toMatchObject({ code: 'unavailable' });
      expect(performance.now() - asked).toBeLessThan(STARTING_TIMEOUT_MS);
      link.resume();
    });
    await late.close();
    await link.cut();
  });

  it('says that it is away when all connections are taken for too long', async () => {
    let free: () => void = () => undefined;
    const freed = new Promise<void>((resolve) => (free = resolve));
    const taken = [1, 2].map(() => database.transaction(() => freed));
    await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: 'unavailable' });
    free();
    await Promise.all(taken);
    expect(await database.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  it('gives a lock up that is not to be had for two seconds', async () => {
    const waiting = database.transaction(async (holder) => {
      await holder.query('LOCK TABLE things');
      await database.query('INSERT INTO things VALUES (1)');
    });
    await expect(waiting).rejects.toMatchObject({ code: '55P03' });
  });

  it('says that it is away once it is closed', async () => {
    const closing = await connect(test.url);
    await closing.close();
    await closing.close();
    await expect(closing.query('SELECT 1')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(closing.transaction(() => Promise.resolve())).rejects.toMatchObject({ code: 'unavailable' });
  });
});
