import { PostgresCurrentQueue } from '#delivery/adapters/postgres/postgres-current-queue.js';
import { PostgresStore } from './postgres-store.js';

describe('The current queue', () => {
  let store: PostgresStore;
  let database: Awaited<ReturnType<PostgresStore['process']>>['database'];
  beforeAll(async () => {
    store = await PostgresStore.open();
    ({ database } = await store.process());
  });
  beforeEach(() => store.sql(`DELETE FROM sluice.installation WHERE name = 'current_queue'`));
  afterAll(() => store.close());

  const start = async (dataSet: string | null) => {
    const process = new PostgresCurrentQueue(database);
    await process.check(dataSet);
    return process;
  };
  const isCurrentAfter = async (process: PostgresCurrentQueue, dataSet: string | null) => {
    await process.check(dataSet);
    return process.isCurrent;
  };
  const later = (seconds: number) =>
    store.sql(
      `UPDATE sluice.installation SET value = (
         SELECT concat_ws(' ', part[1], part[2], part[3]::bigint - $1::int) FROM regexp_split_to_array(value, ' ') part
       ) WHERE name = 'current_queue'`,
      [seconds],
    );

  it('is that of the process that started last', async () => {
    const [old, other] = [await start('postgresql'), await start('postgresql')];
    expect([old.isCurrent, other.isCurrent, await old.dataSet()]).toEqual([true, true, 'postgresql']);
    const next = await start('redis');
    expect([await isCurrentAfter(old, 'postgresql'), next.isCurrent, await old.dataSet()]).toEqual([
      ...[false, true, 'redis'],
    ]);
    await start('postgresql');
    expect([await isCurrentAfter(old, 'postgresql'), await isCurrentAfter(next, 'redis')]).toEqual([true, false]);
  });

  it('stays the same when it loses its data, also for a process that has not seen all of its states', async () => {
    const [one, other] = [await start('first'), await start('first')];
    for (const dataSet of ['second', 'third']) expect(await isCurrentAfter(one, dataSet)).toBe(true);
    expect(await isCurrentAfter(other, 'third')).toBe(true);
    expect((await start('third')).isCurrent).toBe(true);
    expect(await isCurrentAfter(one, 'third')).toBe(true);
  });

  it('is not the queue of before when that has lost its data', async () => {
    const old = await start('first');
    await start('another');
    expect(await isCurrentAfter(old, 'second')).toBe(false);
  });

  it('stays the same while it is away, and is chosen by a process when that reaches it first', async () => {
    const [old, away] = [await start('postgresql'), await start(null)];
    expect([old.isCurrent, away.isCurrent, await away.dataSet()]).toEqual([true, true, 'postgresql']);
    expect(await isCurrentAfter(away, 'redis')).toBe(true);
    for (let minute = 0; minute < 2; minute++) {
      await later(60);
      expect(await isCurrentAfter(away, null)).toBe(true);
    }
    expect(await isCurrentAfter(old, 'postgresql')).toBe(false);
  });

  it('is replaced by another one that has processes when it has none', async () => {
    const [stays] = [await start('first'), await start('mistaken')];
    await later(50);
    expect(await isCurrentAfter(stays, 'first')).toBe(false);
    await later(15);
    expect(await isCurrentAfter(stays, 'first')).toBe(true);
  });

  it('is one when processes with different queues start at the same time', async () => {
    const processes = await Promise.all(['one', 'other', 'third'].map((dataSet) => start(dataSet)));
    for (const [index, dataSet] of ['one', 'other', 'third'].entries()) await processes[index]?.check(dataSet);
    const states = [];
    for (const [index, dataSet] of ['one', 'other', 'third'].entries()) {
      const process = processes[index];
      if (process !== undefined) states.push(await isCurrentAfter(process, dataSet));
    }
    expect(states.filter(Boolean)).toHaveLength(1);
  });

  it.each([
    ['the same', 'one', [true, true]],
    ['another', 'other', [false, true]],
  ])('is that of a process that has started meanwhile, with %s queue', async (_, dataSet, areCurrent) => {
    const faster: PostgresCurrentQueue[] = [];
    const slow = new PostgresCurrentQueue({
      query: async (...statement: Parameters<typeof database.query>) => {
        const rows = await database.query(...statement);
        // After what it has read, and before it writes.
        if (faster.length === 0) faster.push(await start(dataSet));
        return rows;
      },
    } as typeof database);
    await slow.check('one');
    await faster[0]?.check(dataSet);
    expect([slow.isCurrent, faster[0]?.isCurrent]).toEqual(areCurrent);
  });
});
