import { SettleUsage } from '#usage/application/settle-usage.js';
import { ApplyRetention } from '#upkeep/application/apply-retention.js';
import { PostgresPartitions } from '#upkeep/adapters/postgres/postgres-partitions.js';
import { anAccountId } from '../support/messages.js';
import { HOUR_MS, hourStart, NEVER, UsageStore, within } from './usage-store.js';

describe('The usage of accounts', () => {
  let store: UsageStore;
  beforeEach(async () => (store = await UsageStore.open()));
  afterEach(async () => {
    expect(store.faults).toEqual([]);
    await store.close();
  });

  describe('keeps up with how messages end', () => {
    it('when they are counted, and later, until none can change', async () => {
      const account = anAccountId();
      const start = hourStart(5);
      const [delivered, failed, cancelled, open] = [
        await store.send(account, start, 'x', 4),
        await store.send(account, start, 'x', 3),
        await store.send(account, start, 'x', 2),
        await store.send(account, start, 'x', 1),
      ];
      await store.move(delivered.slice(1), 'delivered');
      await store.count();
      expect(await store.usage(account)).toMatchObject([{ accepted: 10, delivered: 3, failed: 0, cancelled: 0 }]);
      await store.move(delivered, 'delivered');
      await store.move(failed, 'failed');
      await store.move(cancelled, 'cancelled');
      await store.lookAgain();
      expect(await store.usage(account)).toMatchObject([{ accepted: 10, delivered: 4, failed: 3, cancelled: 2 }]);
      await store.move(failed, 'queued');
      await store.lookAgain();
      expect(await store.usage(account)).toMatchObject([{ delivered: 4, failed: 0, cancelled: 2 }]);
      await store.move([...failed, ...open], 'delivered');
      await store.lookAgain();
      expect(await store.usage(account)).toMatchObject([{ delivered: 8, failed: 0, cancelled: 2 }]);
      expect(await store.sql('SELECT FROM sluice.usage WHERE recount_at IS NOT NULL')).toEqual([]);
    });

    it('without operational events, however these end', async () => {
      const account = anAccountId();
      const start = hourStart(5);
      const [delivered, failed] = [await store.send(account, start, 'x', 3), await store.send(account, start, 'x', 2)];
      const events = await store.send(account, start, 'x', 4);
      const type = `UPDATE sluice.messages SET type = 'sluice.message.failed' WHERE id = ANY ($1)`;
      await store.sql(type, [events.map(({ id }) => id)]);
      await store.count();
      await store.move(delivered, 'delivered');
      await store.move(failed, 'failed');
      for (const [index, status] of (['queued', 'failed', 'cancelled', 'delivered'] as const).entries())
        await store.move(events.slice(index, index + 1), status);
      await store.lookAgain();
      expect(await store.usage(account)).toMatchObject([{ accepted: 5, delivered: 3, failed: 2, cancelled: 0 }]);
    });

    it('later, the longer an hour is over and the more messages are open', async () => {
      const account = anAccountId();
      for (const hoursAgo of [1, 100, 24 * 25]) await store.send(account, hourStart(hoursAgo));
      await store.send(account, hourStart(3), 'x', 1_000);
      await store.sql(`UPDATE sluice.usage_progress SET closing = closing`);
      await store.count();
      await store.lookAgain();
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
      await store.move(await store.send(mixed, start, 'x', 2), 'delivered');
      await store.move(await store.send(mixed, start), 'failed');
      await store.move(await store.send(failing, start), 'failed');
      await store.count();
      await store.sql('TRUNCATE sluice.messages');
      await store.lookAgain();
      expect(await store.usage(mixed)).toMatchObject([{ accepted: 3, delivered: 2, failed: 1 }]);
      expect(await store.usage(failing)).toMatchObject([{ accepted: 1, delivered: 0, failed: 1 }]);
      expect(await store.sql('SELECT FROM sluice.usage WHERE recount_at IS NOT NULL')).toEqual([]);
    });
  });

  describe('is counted before messages are removed', () => {
    const old = new Date(Date.now() - 60 * 24 * HOUR_MS);

    /** The only period ends before the messages expire. */
    async function retain(usage: Pick<SettleUsage, 'execute'>) {
      const partitions = new PostgresPartitions(store.process.database);
      const { periods } = await partitions.list();
      const end = periods[0]?.until ?? new Date(NaN);
      const inTime = { list: async () => ({ ...(await partitions.list()), now: within(end, 31 * 24 * HOUR_MS) }) };
      const real: PartitionsOf = Object.assign(Object.create(partitions) as PostgresPartitions, inTime);
      return new ApplyRetention(real, usage, 30, { ran: () => undefined }).execute(NEVER);
    }
    type PartitionsOf = PostgresPartitions;

    /** Counts up to the present, whatever the end of the period. */
    const settled = () => {
      const settle = new SettleUsage(store.ledger, store.counter());
      return { execute: () => settle.execute({ from: new Date(0), until: hourStart(1) }, NEVER) };
    };

    it('with how they have ended', async () => {
      const account = anAccountId();
      const messages = await store.send(account, old, 'x', 3);
      await store.count();
      await store.move(messages, 'failed');
      await store.move(messages.slice(1), 'delivered');
      expect((await retain(settled())).removed).toHaveLength(1);
      expect(await store.sql('SELECT FROM sluice.messages')).toEqual([]);
      expect(await store.usage(account)).toMatchObject([{ accepted: 3, delivered: 2, failed: 1 }]);
    });

    it('also when nothing has been counted for long', async () => {
      const account = anAccountId();
      await store.move(await store.send(account, old, 'x', 3), 'delivered');
      expect((await retain(settled())).removed).toHaveLength(1);
      expect(await store.usage(account)).toMatchObject([{ accepted: 3, delivered: 3 }]);
    });

    it('and they are kept while that is not possible', async () => {
      const account = anAccountId();
      await store.move(await store.send(account, old, 'x', 3), 'delivered');
      jest.spyOn(store.ledger, 'othersEnded').mockResolvedValueOnce(false);
      expect((await retain(settled())).removed).toEqual([]);
      expect(store.delays).toBe(1);
      expect(await store.sql('SELECT FROM sluice.messages')).toHaveLength(3);
    });

    it('and they are kept while one of them is late', async () => {
      await store.count();
      const account = anAccountId();
      await store.move(await store.send(account, old), 'delivered');
      jest.spyOn(store.ledger, 'countLate').mockResolvedValueOnce(false);
      expect((await retain(settled())).removed).toEqual([]);
      expect((await retain(settled())).removed).toHaveLength(1);
      expect(await store.usage(account)).toMatchObject([{ accepted: 1, acceptedBytes: 4 }]);
    });
  });
});
