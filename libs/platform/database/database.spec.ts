import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.js';
import { Link } from '../../../test/support/link.js';
import { CONNECTION_LIMITS, STARTING_TIMEOUT_MS } from './connection.js';
import { Database, type DatabaseOptions } from './database.js';
import type { Repositories } from './repositories.js';

describe('Database', () => {
  let test: TestDatabase;
  let database: Database;
  let repositories: Repositories;

  const connect = (url: string, options: Partial<DatabaseOptions> = {}) =>
    Database.connect({ url, poolSize: 2, applicationName: 'spec', onError: () => undefined, ...options });
  const rows = () => database.query<{ n: number }>('SELECT n FROM public.things ORDER BY n');
  /** Ends all connections of the database under test, except the one that runs this. */
  const terminateOthers = () =>
    database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'spec' AND datname = current_database() AND pid <> pg_backend_pid()`);

  beforeAll(async () => {
    test = await createTestDatabase();
    database = await connect(test.url);
    repositories = await database.repositories([]);
    await database.query('CREATE TABLE public.things (n int PRIMARY KEY)');
  });
  beforeEach(() => database.query('TRUNCATE public.things'));
  afterAll(async () => {
    await database.close();
    await test.drop();
  });

  it('rolls back a transaction that fails, and reuses its connection', async () => {
    for (let time = 0; time < 5; time++) {
      const failed = database.transaction(async (client) => {
        await client.query('INSERT INTO public.things VALUES (1)');
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');
    }
    expect(await rows()).toEqual([]);
  });

  it.each(['ROLLBACK', 'COMMIT'])(
    'gives no connection back whose transaction may be open after a lost %s',
    async (lost) => {
      const single = await connect(test.url, { poolSize: 1 });
      const [before] = await single.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const failed = single.transaction(async (client) => {
        await client.query('INSERT INTO public.things VALUES (1)');
        const query = client.query.bind(client) as (text: string) => Promise<unknown>;
        // Not even the repetition arrives.
        Object.assign(client, {
          query: (text: string) =>
            [lost, 'ROLLBACK'].includes(text) ? Promise.reject(new Error('no response')) : query(text),
        });
        if (lost === 'ROLLBACK') throw new Error('no response');
      });
      await expect(failed).rejects.toThrow('no response');
      const [after] = await single.query<{ pid: number; isOpen: boolean }>(
        'SELECT pg_backend_pid() AS pid, pg_current_xact_id_if_assigned() IS NOT NULL AS "isOpen"',
      );
      expect(after).toEqual({ pid: expect.any(Number) as number, isOpen: false });
      expect(after?.pid).not.toBe(before?.pid);
      expect(await rows()).toEqual([]);
      await single.close();
    },
  );

  it('survives the loss of a borrowed connection', async () => {
    // Without a listener this would throw, and end a process.
    const handled = await database.transaction((client) => Promise.resolve(client.emit('error', new Error('lost'))));
    expect(handled).toBe(true);
  });

  it('passes on errors of a statement', async () => {
    const wrong = { code: '42703' };
    await expect(database.query('SELECT nothing')).rejects.toMatchObject(wrong);
    await expect(database.prepared('bad', 'SELECT nothing', [])).rejects.toMatchObject(wrong);
    await expect(database.transaction((client) => client.query('SELECT nothing'))).rejects.toMatchObject(wrong);
    await expect(repositories.run((manager) => manager.query('SELECT nothing'))).rejects.toMatchObject(wrong);
  });

  it('keeps the connection of a statement that fails', async () => {
    const single = await connect(test.url, { poolSize: 1, timeLimitMs: 1_000 });
    const session = () => single.query('SELECT pg_backend_pid()');
    const before = await session();
    await expect(single.query('SELECT nothing')).rejects.toMatchObject({ code: '42703' });
    await expect(single.query('SELECT pg_sleep(5)')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await session()).toEqual(before);
    await expect(single.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await session()).not.toEqual(before);
    await single.close();
  });

  describe('is unavailable', () => {
    const unavailable = { code: 'unavailable' };

    it('when a connection is lost in a transaction, and recovers with another', async () => {
      for (let time = 0; time < 3; time++) {
        const cut = database.transaction(async (client) => {
          await client.query('INSERT INTO public.things VALUES (1)');
          await terminateOthers();
          await client.query('SELECT 1');
        });
        await expect(cut).rejects.toMatchObject(unavailable);
        const cutRepositories = repositories.transaction(async (manager) => {
          await manager.query('INSERT INTO public.things VALUES (1)');
          await terminateOthers();
          await manager.query('SELECT 1');
        });
        await expect(cutRepositories).rejects.toMatchObject(unavailable);
      }
      expect(await rows()).toEqual([]);
    });

    it('when connections are refused', async () => {
      await expect(connect(test.url.replace(/:\d+\//, ':1/'))).rejects.toMatchObject(unavailable);
    });

    it('when a statement takes too long', async () => {
      const slow = database.transaction(async (client) => {
        await client.query(`SET LOCAL statement_timeout = 50`);
        await client.query('SELECT pg_sleep(5)');
      });
      await expect(slow).rejects.toMatchObject(unavailable);
    });

    it('when all connections are in use for too long', async () => {
      let free: () => void = () => undefined;
      const freed = new Promise<void>((resolve) => (free = resolve));
      const taken = [1, 2].map(() => database.transaction(() => freed));
      await expect(database.query('SELECT 1')).rejects.toMatchObject(unavailable);
      free();
      await Promise.all(taken);
      expect(await database.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    });

    it('once it is closed', async () => {
      const closing = await connect(test.url);
      await closing.close();
      await closing.close();
      await expect(closing.query('SELECT 1')).rejects.toMatchObject(unavailable);
      await expect(closing.transaction(() => Promise.resolve())).rejects.toMatchObject(unavailable);
    });
  });

  describe('on a link that hangs', () => {
    const link = new Link();

    afterEach(() => link.cut());

    it('waits longer for its first connection than for later ones', async () => {
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
    });

    it('discards a connection that does not respond', async () => {
      const url = await link.open(test.url);
      const impatient = await connect(url, { poolSize: 1, timeLimitMs: 1_000 });
      const repositories = await impatient.repositories([]);
      for (const work of [
        () => impatient.query('SELECT 1'),
        () => impatient.transaction((client) => client.query('SELECT 1')),
        () => repositories.run((manager) => manager.query('SELECT 1')),
        () => repositories.transaction((manager) => manager.query('SELECT 1')),
      ]) {
        await impatient.query('SELECT 1');
        link.abandon();
        const asked = performance.now();
        await expect(work()).rejects.toMatchObject({ code: 'unavailable' });
        expect(performance.now() - asked).toBeLessThan(10_000);
      }
      await impatient.close();
    });
  });

  it.each([undefined, true])(
    'rests on no default of the server, with asynchronousCommit %s',
    async (asynchronousCommit) => {
      const careless = await createTestDatabase();
      const admin = await connect(careless.url);
      await admin.query(`DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database());
      EXECUTE format('ALTER DATABASE %I SET synchronous_commit = local', current_database());
    END $$`);
      const careful = await connect(careless.url, { ...(asynchronousCommit && { asynchronousCommit }) });
      expect(await careful.query('SHOW transaction_isolation')).toEqual([{ transaction_isolation: 'read committed' }]);
      const expected = asynchronousCommit === true ? 'off' : 'on';
      expect(await careful.query('SHOW synchronous_commit')).toEqual([{ synchronous_commit: expected }]);
      for (const one of [admin, careful]) await one.close();
      await careless.drop();
    },
  );

  it('stops waiting for a lock after two seconds', async () => {
    const waiting = database.transaction(async (holder) => {
      await holder.query('LOCK TABLE public.things');
      await database.query('INSERT INTO public.things VALUES (1)');
    });
    await expect(waiting).rejects.toMatchObject({ code: '55P03' });
  });
});
