import { DataSource } from 'typeorm';
import { Partitions1763700015000 } from '#messages/adapters/postgres/migrations/1763700015000-partitions.js';
import { migrateSchema } from '../../apps/schema.js';
import { aMessage, claimTerms, jobOf, messages } from '../support/messages.js';
import { PostgresStore } from './postgres-store.js';

/** The store as the version before left it. */
async function openUnpartitioned(): Promise<PostgresStore> {
  const store = await PostgresStore.open();
  const dataSource = await new DataSource({ type: 'postgres', url: store.url, installExtensions: false }).initialize();
  const runner = dataSource.createQueryRunner();
  await new Partitions1763700015000().down(runner);
  await runner.query(`DELETE FROM sluice.migrations WHERE name LIKE 'Partitions%'`);
  await runner.release();
  await dataSource.destroy();
  return store;
}

describe('The migration that partitions messages', () => {
  let store: PostgresStore;

  beforeEach(async () => {
    store = await openUnpartitioned();
  });
  afterEach(() => store.close());

  const placeOf = async (table: string, column: string) =>
    new Map(
      (
        await store.sql<{ id: string; place: string }>(
          `SELECT ${column} AS id, (SELECT relname FROM pg_class WHERE oid = m.tableoid) AS place FROM sluice.${table} m`,
        )
      ).map(({ id, place }) => [id, place]),
    );

  it('keeps every row, and lets those of a clock that is years ahead go beside the others', async () => {
    const now = aMessage({ createdAt: new Date() });
    const ahead = aMessage({ createdAt: new Date('2090-01-01T00:00:00Z') });
    for (const message of [now, ahead]) {
      await store.put(message);
      await store.sql(
        `INSERT INTO sluice.attempts (message_id, number, account_id, started_at, outcome)
         VALUES ($1, 1, 'acct', now(), 'lost')`,
        [message.id],
      );
    }
    await migrateSchema(store.url);
    for (const [table, column] of [
      ['messages', 'id'],
      ['attempts', 'message_id'],
    ] as const) {
      const places = await placeOf(table, column);
      expect(places.get(now.id)).toMatch(/^\w+_19700101_\d{8}$/);
      expect(places.get(ahead.id)).toBe(`${table}_after`);
    }
    expect((await store.find(now))?.state).toEqual(now.state);
  });

  it('builds no index anew', async () => {
    await store.put(aMessage());
    const indexes = `
      SELECT indexrelid AS oid FROM pg_index JOIN pg_class c ON c.oid = indrelid
      WHERE relnamespace = 'sluice'::regnamespace AND relkind = 'r' AND relname ~ '^(messages|attempts)'`;
    const before = await store.sql<{ oid: number }>(indexes);
    await migrateSchema(store.url);
    const after = new Set((await store.sql<{ oid: number }>(indexes)).map(({ oid }) => oid));
    expect(before.filter(({ oid }) => !after.has(oid))).toEqual([]);
    const invalid = await store.sql(
      `SELECT FROM pg_index WHERE indrelid = 'sluice.messages'::regclass AND NOT indisvalid`,
    );
    expect(invalid).toEqual([]);
  });

  it('fails nothing that a process of the version before does meanwhile, or after', async () => {
    const { messages: stored, deliveries, faults } = await store.process();
    const sent: string[] = [];
    let until = Infinity;
    const write = async () => {
      while (performance.now() < until) {
        const batch = messages(20, { createdAt: new Date() });
        await Promise.all(batch.map((message) => stored.add(message, null)));
        for (const message of batch) {
          const claimed = await deliveries.claim(jobOf(message), claimTerms());
          if (claimed === null) throw new Error('It could not be claimed.');
          expect(await deliveries.settle(claimed, claimed.deliver(new Date()))).toBe(true);
        }
        sent.push(...batch.map(({ id }) => id));
      }
    };
    const writing = [write(), write()];
    await store.until(() => sent.length > 200);
    await migrateSchema(store.url);
    const before = sent.length;
    await store.until(() => sent.length > before + 200);
    until = 0;
    await Promise.all(writing);
    expect(faults).toEqual([]);
    const rows = await store.sql<{ id: string }>(
      `SELECT id FROM sluice.messages m WHERE status = 'delivered'
         AND EXISTS (SELECT FROM sluice.attempts WHERE message_id = m.id AND outcome = 'delivered')`,
    );
    expect(rows.map(({ id }) => id).sort()).toEqual(sent.sort());
  });

  it('waits for a long transaction without holding up what others do', async () => {
    const reader = await store.transaction('SELECT FROM sluice.messages');
    const migrated = migrateSchema(store.url);
    const { messages: stored } = await store.process();
    await store.somebodyWaits();
    for (let count = 0; count < 10; count++) await stored.add(aMessage(), null);
    await reader.query('COMMIT');
    await migrated;
    expect((await placeOf('messages', 'id')).size).toBe(10);
  });
});
