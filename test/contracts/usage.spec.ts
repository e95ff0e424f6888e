import { lowestId } from '#kernel/ids.js';
import type { Message, MessageState } from '#messages/domain/message.js';
import { CountUsage } from '#usage/application/count-usage.js';
import { SettleUsage } from '#usage/application/settle-usage.js';
import { PostgresUsageHistory } from '#usage/adapters/postgres/postgres-usage-history.js';
import { PostgresUsageLedger } from '#usage/adapters/postgres/postgres-usage-ledger.js';
import { ApplyRetention } from '#upkeep/application/apply-retention.js';
import { PostgresPartitions } from '#upkeep/adapters/postgres/postgres-partitions.js';
import { aMessage, anAccountId } from '../support/messages.js';
import { PostgresStore, type StoreProcess } from './postgres-store.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const signal = new AbortController().signal;

/** Long enough ago for the hour to be over, and for every message of it to be counted. */
const hourStart = (hoursAgo: number) => new Date(Math.floor(Date.now() / HOUR_MS - hoursAgo) * HOUR_MS);
const within = (start: Date, ms: number) => new Date(start.getTime() + ms);

describe('The usage of accounts', () => {
  let store: PostgresStore;
  let process: StoreProcess;
  let ledger: PostgresUsageLedger;
  let history: PostgresUsageHistory;
  let faults: unknown[];
  let delays: number;

  beforeEach(async () => {
    store = await PostgresStore.open();
    process = await store.process();
    ledger = new PostgresUsageLedger(process.database);
    history = new PostgresUsageHistory(process.reads);
    faults = [];
    delays = 0;
  });
  afterEach(async () => {
    expect(faults).toEqual([]);
    await store.close();
  });

  const counter = (on = ledger) =>
    new CountUsage(on, 400, { delayed: () => delays++, failed: (error) => faults.push(error) });
  const count = () => counter().execute(signal);

  /** Stores messages like a request does. */
  async function send(accountId: string, at: Date, text = 'text', number = 1): Promise<Message[]> {
    const messages = Array.from({ length: number }, () => aMessage({ accountId, text, createdAt: at, updatedAt: at }));
    await process.messages.add(messages, null);
    return messages;
  }

  const usage = (accountId: string, by: 'hour' | 'day' = 'hour') =>
    history.of(accountId, { by, since: new Date(0), until: new Date('9000-01-01'), after: null, limit: 100 });
  const accepted = async (accountId: string) =>
    (await usage(accountId))?.map(({ start, accepted }) => [start.getTime(), accepted]) ?? null;
  const move = (messages: readonly Message[], status: MessageState['status']) =>
    store.sql(`UPDATE sluice.messages SET status = $2 WHERE id = ANY ($1)`, [messages.map(({ id }) => id), status]);
  /** As if the time had come. */
  const lookAgain = async () => {
    await store.sql('UPDATE sluice.usage SET recount_at = now() WHERE recount_at IS NOT NULL');
    await count();
  };
  const late = () => store.sql('SELECT message_id FROM sluice.usage_late');

  it('counts messages and bytes of content by the hour of their acceptance, in UTC', async () => {
    const [one, other] = [anAccountId(), anAccountId()];
    const [first, second] = [hourStart(30), hourStart(29)];
    await store.sql(`DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Kathmandu''', current_database());
    END $$`);
    await send(one, first, 'é');
    await send(one, within(second, -1), 'four');
    await send(one, second, 'x', 3);
    await send(other, within(second, HOUR_MS - 1), 'x');
    await count();
    const open = { delivered: 0, failed: 0, cancelled: 0 };
    expect(await usage(one)).toEqual([
      { start: first, accepted: 2, acceptedBytes: 6, ...open },
      { start: second, accepted: 3, acceptedBytes: 3, ...open },
    ]);
    expect(await usage(other)).toEqual([{ start: second, accepted: 1, acceptedBytes: 1, ...open }]);
  });

  it('adds up hours to days in UTC', async () => {
    const account = anAccountId();
    const noon = new Date('2026-03-29T12:00:00Z');
    for (const at of ['2026-03-28T23:59:59.999Z', '2026-03-29T00:00:00Z', '2026-03-29T23:59:59.999Z']) {
      await send(account, new Date(at));
    }
    await send(account, noon, 'xx', 2);
    await count();
    const days = await usage(account, 'day');
    expect(days?.map(({ start, accepted, acceptedBytes }) => [start.toISOString(), accepted, acceptedBytes])).toEqual([
      ['2026-03-28T00:00:00.000Z', 1, 4],
      ['2026-03-29T00:00:00.000Z', 4, 12],
    ]);
  });

  it('counts each message once, by however many processes, and however often they repeat it', async () => {
    const account = anAccountId();
    const start = hourStart(3);
    for (let minute = 0; minute < 60; minute++) await send(account, within(start, minute * MINUTE_MS), 'x', 200);
    const processes = await Promise.all([store.process(), store.process(), store.process()]);
    const counters = processes.map(({ database }) => counter(new PostgresUsageLedger(database)));
    await Promise.all([...counters, ...counters].map((one) => one.execute(signal)));
    expect(await accepted(account)).toEqual([[start.getTime(), 12_000]]);
    await count();
    expect(await accepted(account)).toEqual([[start.getTime(), 12_000]]);
  });

  it('counts messages that are stored while it counts, and after it has counted their hour', async () => {
    const account = anAccountId();
    const start = hourStart(2);
    await send(account, start);
    let sent = 1;
    const counting = { isOver: false };
    const sending = (async () => {
      for (; !counting.isOver; sent++) await send(account, within(start, sent));
    })();
    for (let round = 0; round < 20; round++) await count();
    counting.isOver = true;
    await sending;
    await count();
    expect(sent).toBeGreaterThan(20);
    expect(await accepted(account)).toEqual([[start.getTime(), sent]]);
    expect(await late()).toEqual([]);
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
      ? await store.transaction(insert, values)
      : await store.transaction(`LOCK TABLE sluice.messages IN ROW EXCLUSIVE MODE`);
    const counted = count();
    await store.until(async () => {
      const [row] = await store.sql<{ closing: string }>('SELECT closing FROM sluice.usage_progress');
      return row?.closing !== '';
    });
    expect(await store.sql(`SELECT FROM sluice.usage_progress WHERE counted > ''`)).toEqual([]);
    if (!isStored) await slow.query(insert, values);
    await slow.query('COMMIT');
    await counted;
    await count();
    expect(await accepted(account)).toEqual([[start.getTime(), 1]]);
  });

  it('does nothing while another process has just counted, and shows that a count is missing', async () => {
    const account = anAccountId();
    await store.sql('UPDATE sluice.usage_progress SET began_at = clock_timestamp()');
    await send(account, hourStart(2));
    await counter().run(signal);
    await expect(usage(account)).rejects.toMatchObject({ code: 'unavailable', retryAfter: 15 });
    const earlier = { by: 'hour', since: new Date(0), until: hourStart(4), after: null, limit: 1 } as const;
    expect(await history.ofAll(earlier)).toEqual([]);
    await store.sql(`UPDATE sluice.usage_progress SET began_at = clock_timestamp() - interval '11 seconds'`);
    await counter().run(signal);
    expect(await accepted(account)).toHaveLength(1);
  });

  it('waits for no message of the running hour', async () => {
    const account = anAccountId();
    await store.addEndpoint(account);
    await send(account, new Date());
    await count();
    expect(await usage(account)).toEqual([]);
  });

  it('counts a message of a clock that is ahead when its time has come, at the latest when it is removed', async () => {
    const account = anAccountId();
    const start = hourStart(-24 * 4_000);
    const [message] = await send(account, start, 'ahead');
    await count();
    await store.addEndpoint(account);
    expect(await usage(account)).toEqual([]);
    await move(
      [message].filter((one) => one !== undefined),
      'delivered',
    );
    await store.sql(`UPDATE sluice.messages SET updated_at = now() - interval '31 days'`);
    const partitions = new PostgresPartitions(process.database);
    expect(await partitions.removeStragglers(hourStart(24 * 30))).toBe(1);
    expect(await usage(account)).toEqual([
      { start, accepted: 1, acceptedBytes: 5, delivered: 1, failed: 0, cancelled: 0 },
    ]);
    // A message that was counted before is not counted again.
    const [old] = await send(account, hourStart(3));
    await count();
    await move(
      [old].filter((one) => one !== undefined),
      'delivered',
    );
    expect(await accepted(account)).toEqual([
      [hourStart(3).getTime(), 1],
      [start.getTime(), 1],
    ]);
  });

  describe('keeps up with how messages end', () => {
    it('when they are counted, and later, until none can change', async () => {
      const account = anAccountId();
      const start = hourStart(5);
      const [delivered, failed, cancelled, open] = [
        await send(account, start, 'x', 4),
        await send(account, start, 'x', 3),
        await send(account, start, 'x', 2),
        await send(account, start, 'x', 1),
      ];
      await move(delivered.slice(1), 'delivered');
      await count();
      expect(await usage(account)).toMatchObject([{ accepted: 10, delivered: 3, failed: 0, cancelled: 0 }]);
      await move(delivered, 'delivered');
      await move(failed, 'failed');
      await move(cancelled, 'cancelled');
      await lookAgain();
      expect(await usage(account)).toMatchObject([{ accepted: 10, delivered: 4, failed: 3, cancelled: 2 }]);
      await move(failed, 'queued');
      await lookAgain();
      expect(await usage(account)).toMatchObject([{ delivered: 4, failed: 0, cancelled: 2 }]);
      await move([...failed, ...open], 'delivered');
      await lookAgain();
      expect(await usage(account)).toMatchObject([{ delivered: 8, failed: 0, cancelled: 2 }]);
      expect(await store.sql('SELECT FROM sluice.usage WHERE recount_at IS NOT NULL')).toEqual([]);
    });

    it('later, the longer an hour is over and the more messages are open', async () => {
      const account = anAccountId();
      for (const hoursAgo of [1, 100, 24 * 25]) await send(account, hourStart(hoursAgo));
      await send(account, hourStart(3), 'x', 1_000);
      await store.sql(`UPDATE sluice.usage_progress SET closing = closing`);
      await count();
      await lookAgain();
      const waits = await store.sql<{ minutes: number }>(
        'SELECT (extract(epoch FROM recount_at - now()) / 60)::float8 AS minutes FROM sluice.usage ORDER BY start DESC',
      );
      const [last = 0, many = 0, older = 0, oldest = 0] = waits.map(({ minutes }) => minutes);
      expect(last).toBeGreaterThan(5);
      expect(last).toBeLessThan(13);
      expect(many).toBeGreaterThan(16);
      expect(older).toBeGreaterThan(9 * 60);
      expect(oldest).toBeLessThan(24 * 60 + 1);
    });

    it('and keeps what it has when they were removed', async () => {
      const [mixed, failing] = [anAccountId(), anAccountId()];
      const start = hourStart(5);
      await move(await send(mixed, start, 'x', 2), 'delivered');
      await move(await send(mixed, start), 'failed');
      await move(await send(failing, start), 'failed');
      await count();
      await store.sql('TRUNCATE sluice.messages');
      await lookAgain();
      expect(await usage(mixed)).toMatchObject([{ accepted: 3, delivered: 2, failed: 1 }]);
      expect(await usage(failing)).toMatchObject([{ accepted: 1, delivered: 0, failed: 1 }]);
      expect(await store.sql('SELECT FROM sluice.usage WHERE recount_at IS NOT NULL')).toEqual([]);
    });
  });

  describe('is counted before messages are removed', () => {
    const old = new Date(Date.now() - 60 * 24 * HOUR_MS);

    /** The only period ends before the messages expire. */
    async function retain(usage: Pick<SettleUsage, 'execute'>) {
      const partitions = new PostgresPartitions(process.database);
      const { periods } = await partitions.list();
      const end = periods[0]?.until ?? new Date(NaN);
      const inTime = { list: async () => ({ ...(await partitions.list()), now: within(end, 31 * 24 * HOUR_MS) }) };
      const real: PartitionsOf = Object.assign(Object.create(partitions) as PostgresPartitions, inTime);
      return new ApplyRetention(real, usage, 30, { ran: () => undefined }).execute(signal);
    }
    type PartitionsOf = PostgresPartitions;

    /** Counts up to the present, whatever the end of the period. */
    const settled = () => {
      const settle = new SettleUsage(ledger, counter());
      return { execute: () => settle.execute({ from: new Date(0), until: hourStart(1) }, signal) };
    };

    it('with how they have ended', async () => {
      const account = anAccountId();
      const messages = await send(account, old, 'x', 3);
      await count();
      await move(messages, 'failed');
      await move(messages.slice(1), 'delivered');
      expect((await retain(settled())).removed).toHaveLength(1);
      expect(await store.sql('SELECT FROM sluice.messages')).toEqual([]);
      expect(await usage(account)).toMatchObject([{ accepted: 3, delivered: 2, failed: 1 }]);
    });

    it('also when nothing has been counted for long', async () => {
      const account = anAccountId();
      await move(await send(account, old, 'x', 3), 'delivered');
      expect((await retain(settled())).removed).toHaveLength(1);
      expect(await usage(account)).toMatchObject([{ accepted: 3, delivered: 3 }]);
    });

    it('and they are kept while that is not possible', async () => {
      const account = anAccountId();
      await move(await send(account, old, 'x', 3), 'delivered');
      jest.spyOn(ledger, 'othersEnded').mockResolvedValueOnce(false);
      expect((await retain(settled())).removed).toEqual([]);
      expect(delays).toBe(1);
      expect(await store.sql('SELECT FROM sluice.messages')).toHaveLength(3);
    });

    it('and they are kept while one of them is late', async () => {
      await count();
      const account = anAccountId();
      await move(await send(account, old), 'delivered');
      jest.spyOn(ledger, 'countLate').mockResolvedValueOnce(false);
      expect((await retain(settled())).removed).toEqual([]);
      expect((await retain(settled())).removed).toHaveLength(1);
      expect(await usage(account)).toMatchObject([{ accepted: 1, acceptedBytes: 4 }]);
    });
  });

  it('is kept for a number of whole days', async () => {
    const account = anAccountId();
    const midnight = hourStart(0).setUTCHours(0);
    const first = new Date(midnight - 400 * 24 * HOUR_MS);
    for (const at of [within(first, -1), first, hourStart(2)]) await send(account, at);
    await store.sql(`UPDATE sluice.usage_progress SET began_at = '-infinity'`);
    await counter().run(signal);
    expect((await accepted(account))?.map(([start]) => start)).toEqual([first.getTime(), hourStart(2).getTime()]);
  });

  it('is counted by reading each message once, and the index for what is not delivered', async () => {
    const account = anAccountId();
    const start = hourStart(3);
    const messages = await send(account, start, 'x', 1_000);
    for (let more = 1; more < 12; more++) messages.push(...(await send(account, within(start, more), 'x', 1_000)));
    await move(messages.slice(10), 'delivered');
    await store.sql('VACUUM ANALYZE sluice.messages');
    const read = async () => {
      const [row] = await store.sql<{ rows: number; scans: number }>(
        `SELECT sum(idx_tup_fetch)::int AS rows, sum(seq_scan)::int AS scans FROM pg_stat_user_tables WHERE relname ~ '^messages_'`,
      );
      return row ?? { rows: 0, scans: 0 };
    };
    /** A session reports what it has read at the latest when it ends. */
    const readBy = async (work: (ledger: PostgresUsageLedger) => Promise<unknown>) => {
      const before = await read();
      const own = await store.process();
      await work(new PostgresUsageLedger(own.database));
      await own.database.query('SELECT pg_stat_force_next_flush()');
      await own.database.close();
      const after = await read();
      expect(after.scans).toBe(before.scans);
      return after.rows - before.rows;
    };
    expect(await readBy((own) => counter(own).execute(signal))).toBe(12_000);
    expect(await readBy((own) => counter(own).execute(signal))).toBe(0);
    await store.sql('UPDATE sluice.usage SET recount_at = now()');
    expect(await readBy((own) => counter(own).execute(signal))).toBeLessThan(20);
    expect(await usage(account)).toMatchObject([{ accepted: 12_000, delivered: 11_990 }]);
  });

  it('has a trigger that notes only what is late', async () => {
    const id = lowestId('msg', hourStart(2));
    await ledger.announce(id, 0);
    const account = anAccountId();
    await send(account, hourStart(2), 'in time');
    expect(await late()).toEqual([]);
    const [message] = await send(account, within(hourStart(2), -1), 'late');
    expect(await late()).toEqual([{ message_id: message?.id }]);
  });
});
