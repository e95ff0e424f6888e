import { lowestId } from '#kernel/ids.js';
import { PostgresUsageLedger } from '#usage/adapters/postgres/postgres-usage-ledger.js';
import { PostgresPartitions } from '#upkeep/adapters/postgres/postgres-partitions.js';
import { aMessage, anAccountId } from '../support/messages.js';
import { ALL, HOUR_MS, hourStart, NEVER, UsageStore, within } from './usage-store.js';

const MINUTE_MS = 60_000;

describe('The usage of accounts', () => {
  let store: UsageStore;
  beforeEach(async () => (store = await UsageStore.open()));
  afterEach(async () => {
    expect(store.faults).toEqual([]);
    await store.close();
  });

  it('counts messages and bytes of content by the hour of their acceptance, in UTC', async () => {
    const [one, other] = [anAccountId(), anAccountId()];
    const [first, second] = [hourStart(30), hourStart(29)];
    await store.sql(`DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Kathmandu''', current_database());
    END $$`);
    await store.send(one, first, 'é');
    await store.send(one, within(second, -1), 'four');
    await store.send(one, second, 'x', 3);
    await store.send(other, within(second, HOUR_MS - 1), 'x');
    await store.count();
    const open = { delivered: 0, failed: 0, cancelled: 0 };
    expect(await store.usage(one)).toEqual([
      { start: first, accepted: 2, acceptedBytes: 6, ...open },
      { start: second, accepted: 3, acceptedBytes: 3, ...open },
    ]);
    expect(await store.usage(other)).toEqual([{ start: second, accepted: 1, acceptedBytes: 1, ...open }]);
  });

  it('adds up hours to days in UTC', async () => {
    const account = anAccountId();
    const noon = new Date('2026-03-29T12:00:00Z');
    for (const at of ['2026-03-28T23:59:59.999Z', '2026-03-29T00:00:00Z', '2026-03-29T23:59:59.999Z']) {
      await store.send(account, new Date(at));
    }
    await store.send(account, noon, 'xx', 2);
    await store.count();
    const days = await store.usage(account, 'day');
    expect(days?.map(({ start, accepted, acceptedBytes }) => [start.toISOString(), accepted, acceptedBytes])).toEqual([
      ['2026-03-28T00:00:00.000Z', 1, 4],
      ['2026-03-29T00:00:00.000Z', 4, 12],
    ]);
  });

  it('counts each message once, by however many processes, and however often they repeat it', async () => {
    const account = anAccountId();
    const start = hourStart(3);
    for (let minute = 0; minute < 60; minute++) await store.send(account, within(start, minute * MINUTE_MS), 'x', 200);
    const processes = await Promise.all([store.store.process(), store.store.process(), store.store.process()]);
    const counters = processes.map(({ database }) => store.counter(new PostgresUsageLedger(database)));
    await Promise.all([...counters, ...counters].map((one) => one.execute(NEVER)));
    expect(await store.accepted(account)).toEqual([[start.getTime(), 12_000]]);
    await store.count();
    expect(await store.accepted(account)).toEqual([[start.getTime(), 12_000]]);
  });

  it('counts messages that are stored while it counts, and after it has counted their hour', async () => {
    const account = anAccountId();
    const start = hourStart(2);
    await store.send(account, start);
    let sent = 1;
    const counting = { isOver: false };
    const sending = (async () => {
      for (; !counting.isOver; sent++) await store.send(account, within(start, sent));
    })();
    for (let round = 0; round < 20 || sent <= 20; round++) await store.count();
    counting.isOver = true;
    await sending;
    await store.count();
    expect(await store.accepted(account)).toEqual([[start.getTime(), sent]]);
    expect(await store.late()).toEqual([]);
  });

  it.each([
    ['before its statement', false],
    ['before its commit', true],
  ])('waits for a transaction that began earlier and was held up %s', async (_when, isStored) => {
    const account = anAccountId();
    const start = hourStart(2);
    const insert = `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
                    VALUES ($1, $2, 'x', 'delivered', $3, $3)`;
    const values = [aMessage({ createdAt: start }).id, account, start];
    // Its statement has a lock and a snapshot, but no transaction id.
    const slow = isStored
      ? await store.store.transaction(insert, values)
      : await store.store.transaction(`LOCK TABLE sluice.messages IN ROW EXCLUSIVE MODE`);
    const counted = store.count();
    await store.store.until(async () => {
      const [row] = await store.sql<{ closing: string }>('SELECT closing FROM sluice.usage_progress');
      return row?.closing !== '';
    });
    expect(await store.sql(`SELECT FROM sluice.usage_progress WHERE counted > ''`)).toEqual([]);
    if (!isStored) await slow.query(insert, values);
    await slow.query('COMMIT');
    await counted;
    await store.count();
    expect(await store.accepted(account)).toEqual([[start.getTime(), 1]]);
  });

  it('does nothing while another process has just counted, and shows that a count is missing', async () => {
    const account = anAccountId();
    await store.sql('UPDATE sluice.usage_progress SET began_at = clock_timestamp()');
    await store.send(account, hourStart(2));
    await store.counter().run(NEVER);
    await expect(store.usage(account)).rejects.toMatchObject({ code: 'unavailable', retryAfter: 15 });
    const earlier = { by: 'hour', since: new Date(0), until: hourStart(4), after: null, limit: 1 } as const;
    expect(await store.history.ofAll(earlier)).toEqual([]);
    await store.sql(`UPDATE sluice.usage_progress SET began_at = clock_timestamp() - interval '11 seconds'`);
    await store.counter().run(NEVER);
    expect(await store.accepted(account)).toHaveLength(1);
  });

  it('shows that a late message is missing for long', async () => {
    await store.count();
    const account = anAccountId();
    await store.send(account, hourStart(2));
    expect(await store.late()).toHaveLength(1);
    expect(await store.history.ofAll(ALL)).toEqual([]);
    await store.sql(`UPDATE sluice.usage_late SET noted_at = now() - interval '61 seconds'`);
    await expect(store.history.ofAll(ALL)).rejects.toMatchObject({ code: 'unavailable' });
    await store.count();
    expect(await store.history.ofAll(ALL)).toHaveLength(1);
  });

  it('has work as long as messages are not counted, are late, or hours are due', async () => {
    const account = anAccountId();
    const { ledger } = store;
    expect(await ledger.hasWork()).toBe(false);
    await store.send(account, hourStart(2));
    expect(await ledger.hasWork()).toBe(true);
    await store.count();
    expect(await ledger.hasWork()).toBe(false);
    await store.send(account, hourStart(3));
    expect(await ledger.hasWork()).toBe(true);
    await store.count();
    await store.sql('UPDATE sluice.usage SET recount_at = now()');
    expect(await ledger.hasWork()).toBe(true);
  });

  it('waits for no message of the running hour', async () => {
    const account = anAccountId();
    await store.store.addEndpoint(account);
    await store.send(account, new Date());
    await store.count();
    expect(await store.usage(account)).toEqual([]);
  });

  it('counts a message of a clock that is ahead when its time has come, at the latest when it is removed', async () => {
    const account = anAccountId();
    const start = hourStart(-24 * 4_000);
    const [message] = await store.send(account, start, 'ahead');
    await store.count();
    await store.store.addEndpoint(account);
    expect(await store.usage(account)).toEqual([]);
    await store.move(
      [message].filter((one) => one !== undefined),
      'delivered',
    );
    await store.sql(`UPDATE sluice.messages SET updated_at = now() - interval '31 days'`);
    const partitions = new PostgresPartitions(store.process.database);
    expect(await partitions.removeStragglers(hourStart(24 * 30))).toBe(1);
    expect(await store.usage(account)).toEqual([
      { start, accepted: 1, acceptedBytes: 5, delivered: 1, failed: 0, cancelled: 0 },
    ]);
    // A message that was counted before is not counted again.
    const counted = hourStart(3);
    const [old] = await store.send(account, counted);
    await store.count();
    await store.move(
      [old].filter((one) => one !== undefined),
      'delivered',
    );
    expect(await store.accepted(account)).toEqual([
      [counted.getTime(), 1],
      [start.getTime(), 1],
    ]);
  });

  it('is kept for a number of whole days', async () => {
    const account = anAccountId();
    const recent = hourStart(2);
    const midnight = hourStart(0).setUTCHours(0);
    const first = new Date(midnight - 400 * 24 * HOUR_MS);
    for (const at of [within(first, -1), first, recent]) await store.send(account, at);
    await store.sql(`UPDATE sluice.usage_progress SET began_at = '-infinity'`);
    await store.counter().run(NEVER);
    expect((await store.accepted(account))?.map(([start]) => start)).toEqual([first.getTime(), recent.getTime()]);
  });

  it('has a trigger that notes only what is late', async () => {
    const counted = hourStart(2);
    await store.ledger.announce(lowestId('msg', counted), 0);
    const account = anAccountId();
    await store.send(account, counted, 'in time');
    expect(await store.late()).toEqual([]);
    const [message] = await store.send(account, within(counted, -1), 'late');
    expect(await store.late()).toEqual([{ message_id: message?.id }]);
  });
});
