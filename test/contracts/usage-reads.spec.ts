import { Client } from 'pg';
import { HISTORY, HISTORY_OF_ALL } from '#usage/adapters/postgres/history.sql.js';
import { PostgresUsageLedger } from '#usage/adapters/postgres/postgres-usage-ledger.js';
import { BY_INDEX, IN_INDEX_ORDER } from '#platform/database/connection.js';
import { anAccountId } from '../support/messages.js';
import { hourStart, NEVER, UsageStore, within } from './usage-store.js';

describe('The usage of accounts', () => {
  let store: UsageStore;
  beforeEach(async () => (store = await UsageStore.open()));
  afterEach(async () => {
    expect(store.faults).toEqual([]);
    await store.close();
  });

  it('is counted by reading each message once, and the index for what is not delivered', async () => {
    const account = anAccountId();
    const start = hourStart(3);
    const messages = await store.send(account, start, 'x', 1_000);
    for (let more = 1; more < 12; more++)
      messages.push(...(await store.send(account, within(start, more), 'x', 1_000)));
    await store.move(messages.slice(10), 'delivered');
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
      const own = await store.store.process();
      await work(new PostgresUsageLedger(own.database));
      await own.database.query('SELECT pg_stat_force_next_flush()');
      await own.database.close();
      const after = await read();
      expect(after.scans).toBe(before.scans);
      return after.rows - before.rows;
    };
    expect(await readBy((own) => store.counter(own).execute(NEVER))).toBe(12_000);
    expect(await readBy((own) => store.counter(own).execute(NEVER))).toBe(0);
    await store.sql('UPDATE sluice.usage SET recount_at = now()');
    expect(await readBy((own) => store.counter(own).execute(NEVER))).toBeLessThan(20);
    expect(await store.usage(account)).toMatchObject([{ accepted: 12_000, delivered: 11_990 }]);
  });

  it('is shown by reading about as many hours as a page has', async () => {
    await store.sql(
      `INSERT INTO sluice.usage (account_id, start, accepted, accepted_bytes, delivered, failed, cancelled)
       SELECT 'acct_' || lpad(account::text, 26, '0'), $1::timestamptz + hour * interval '1 hour', 1, 1, 1, 0, 0
       FROM generate_series(1, 1000) AS account, generate_series(0, 47) AS hour`,
      [new Date('2026-01-01T00:00:00Z')],
    );
    const client = new Client({ connectionString: store.store.url, options: `${BY_INDEX} ${IN_INDEX_ORDER}` });
    await client.connect();
    const [one, from, until] = [`'acct_${'1'.padStart(26, '0')}'`, `'2026-01-01T00:00:00Z'`, `'2026-03-01T00:00:00Z'`];
    const statements = [
      ['account by hour', HISTORY.hour, `${one}, ${from}, ${until}, 11`],
      ['account by day', HISTORY.day, `${one}, ${from}, ${until}, 2`],
      ['all by hour', HISTORY_OF_ALL.hour, `${from}, ${until}, 11, ''`],
      ['all by day', HISTORY_OF_ALL.day, `${from}, ${until}, 11, ''`],
      ['all by hour, later', HISTORY_OF_ALL.hour, `'2026-01-02T07:00:00Z', ${until}, 11, ${one}`],
      ['all by day, later', HISTORY_OF_ALL.day, `'2026-01-02T00:00:00Z', ${until}, 11, ${one}`],
    ] as const;
    for (const [what, text, values] of statements) {
      await client.query(`PREPARE page AS ${text}`);
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT json) EXECUTE page(${values})`,
      );
      await client.query('DEALLOCATE page');
      const plan = rows[0]?.['QUERY PLAN'][0].Plan;
      const found = plan?.['Actual Rows'] ?? 0;
      const pages = (plan?.['Shared Hit Blocks'] ?? Infinity) + (plan?.['Shared Read Blocks'] ?? 0);
      // A row of a day has 24 hours, each on a page of its own at worst.
      expect({ what, found: found > 0, isLittle: pages < 400 }).toEqual({ what, found: true, isLittle: true });
    }
    await client.end();
  });
});
