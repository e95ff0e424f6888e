import { migrateSchema } from '../../apps/schema.js';
import { after, aMessage, anAccountId } from '../support/messages.js';
import { PostgresStore } from './postgres-store.js';

describe('The migration that begins to count storage', () => {
  let store: PostgresStore;

  beforeAll(async () => {
    store = await PostgresStore.open();
  });
  afterAll(() => store.close());

  it('counts what was stored before, by account and day in UTC', async () => {
    const [accountId, other] = [anAccountId(), anAccountId()];
    const lastOfDay = new Date('2026-11-20T23:59:59.999Z');
    await store.put(aMessage({ accountId, text: 'ä', createdAt: lastOfDay }));
    await store.put(aMessage({ accountId, text: 'four', createdAt: after(1, lastOfDay) }));
    await store.put(aMessage({ accountId, text: 'five!', createdAt: after(2, lastOfDay) }));
    await store.put(aMessage({ accountId: other, text: 'x', createdAt: lastOfDay }));
    await store.sql(`DROP TABLE sluice.storage; DELETE FROM sluice.migrations WHERE name LIKE 'Storage%'`);
    await migrateSchema(store.url);

    const rows = await store.sql(
      'SELECT account_id, day::text, bytes::int, messages::int FROM sluice.storage ORDER BY day, account_id = $1',
      [accountId],
    );
    expect(rows).toEqual([
      { account_id: other, day: '2026-11-20', bytes: 257, messages: 1 },
      { account_id: accountId, day: '2026-11-20', bytes: 258, messages: 1 },
      { account_id: accountId, day: '2026-11-21', bytes: 521, messages: 2 },
    ]);
  });
});
