import { PostgresAccounts } from '#accounts/adapters/postgres/postgres-accounts.js';
import { CONNECTION_LIMITS } from '#platform/database/connection.js';
import { SENT_AT } from '../support/messages.js';
import { aHash, aKey, anAccount, describeAccounts } from './accounts.contract.js';
import { PostgresStore } from './postgres-store.js';

// What waits here for a lock must not give it up on a busy machine.
Object.assign(CONNECTION_LIMITS, { lock_timeout: 60_000, statement_timeout: 60_000, query_timeout: 60_000 });

async function open() {
  const store = await PostgresStore.open();
  const accounts = await PostgresAccounts.open((await store.process()).database);
  return { store, accounts, close: () => store.close() };
}

describeAccounts('PostgresAccounts', open);

describe('PostgresAccounts', () => {
  let store: PostgresStore;
  let accounts: PostgresAccounts;
  beforeAll(async () => {
    ({ store, accounts } = await open());
  });
  afterAll(() => store.close());

  it.each([
    ['a key is revoked', 'UPDATE sluice.api_keys SET revoked_at = now() WHERE account_id = $1'],
    ['scopes are changed', "UPDATE sluice.api_keys SET scopes = '{}' WHERE account_id = $1"],
    ['a key is deleted', 'DELETE FROM sluice.api_keys WHERE account_id = $1'],
    ['limits are changed', 'UPDATE sluice.accounts SET per_minute = 1 WHERE id = $1'],
    ['the limit a day is changed', 'UPDATE sluice.accounts SET per_day = 1 WHERE id = $1'],
    ['the plan is changed', "UPDATE sluice.accounts SET plan = 'pro' WHERE id = $1"],
    ['the account is suspended', 'UPDATE sluice.accounts SET suspended = true WHERE id = $1'],
    ['the way of delivery is changed', "UPDATE sluice.accounts SET delivery = 'pull' WHERE id = $1"],
    ['a key gets an expiry', 'UPDATE sluice.api_keys SET expires_at = now() WHERE account_id = $1'],
  ])('moves the epoch of the account when %s by hand', async (_name, statement) => {
    const account = anAccount();
    const { id } = account;
    await accounts.add(account, aKey(id), aHash());
    await store.sql(statement, [id]);
    const [row] = await store.sql<{ epoch: string }>('SELECT epoch FROM sluice.accounts WHERE id = $1', [id]);
    expect(Number(row?.epoch)).toBeGreaterThan(0);
  });

  it('locks keys in one order, so that two processes cannot deadlock', async () => {
    const account = anAccount();
    const keys = [aKey(account.id), aKey(account.id)].sort((one, other) => (one.id < other.id ? 1 : -1));
    const [high = '', low = ''] = keys.map(({ id }) => id);
    await accounts.add(account, aKey(account.id), aHash());
    for (const one of keys) await accounts.addKey(one, aHash());
    const holder = await store.transaction('SELECT FROM sluice.api_keys WHERE id = $1 FOR UPDATE', [low]);
    const write = accounts.saveLastUses(new Map([high, low].map((id) => [id, SENT_AT])));
    await store.somebodyWaits();
    expect(await store.sql('SELECT FROM sluice.api_keys WHERE id = $1 FOR UPDATE SKIP LOCKED', [high])).toHaveLength(1);
    await holder.query('COMMIT');
    await write;
    const stored = await accounts.listKeys(account.id, { limit: 3, before: null }, 'operator');
    expect(stored.filter(({ lastUsedAt }) => lastUsedAt !== null)).toHaveLength(2);
  });

  it('leaves connections to others while many changes of one account wait for its row', async () => {
    const [busy, other] = [anAccount(), anAccount()];
    for (const account of [busy, other]) await accounts.add(account, aKey(account.id), aHash());
    const holder = await store.transaction('SELECT FROM sluice.accounts WHERE id = $1 FOR UPDATE', [busy.id]);
    let ended = 0;
    const changes = Array.from({ length: 100 }, () =>
      accounts.update(busy.id, (account) => account, 'account').finally(() => ended++),
    );
    await store.somebodyWaits();
    expect(await accounts.find(other.id, 'account')).toMatchObject({ id: other.id });
    const suspended = accounts.update(busy.id, (account) => account.suspend(), 'operator').then(() => ended);
    expect(ended).toBe(0);
    await holder.query('COMMIT');
    await Promise.all(changes);
    // Two changes of the account had begun before, and others may have since.
    expect(await suspended).toBeLessThan(50);
  });

  it('leaves connections to others while many reads of one account wait', async () => {
    const busy = anAccount();
    await accounts.add(busy, aKey(busy.id), aHash());
    const holder = await store.transaction('LOCK TABLE sluice.accounts');
    const reads = Array.from({ length: 100 }, () => accounts.find(busy.id, 'account'));
    await store.somebodyWaits();
    await accounts.saveLastUses(new Map());
    await holder.query('COMMIT');
    for (const found of await Promise.all(reads)) expect(found).toMatchObject({ id: busy.id });
  });

  it('stores the last uses of keys in place, without new index entries', async () => {
    await store.sql('TRUNCATE sluice.api_keys');
    const account = anAccount();
    await accounts.add(account, aKey(account.id), aHash());
    await store.sql(
      `INSERT INTO sluice.api_keys (id, account_id, name, hash, scopes, created_at)
       SELECT 'key_' || n, $1, 'key', sha256(n::text::bytea), '{messages:send}', now() FROM generate_series(1, 1000) n`,
      [account.id],
    );
    const ids = await store.sql<{ id: string }>("SELECT id FROM sluice.api_keys WHERE name = 'key' ORDER BY id");
    await accounts.saveLastUses(new Map(ids.map(({ id }) => [id, SENT_AT])));
    let [all, hot] = [0, 0];
    // Statistics are published with a delay.
    await store.until(async () => {
      const [row] = await store.sql<{ all: number; hot: number }>(
        `SELECT n_tup_upd::int AS all, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname = 'api_keys'`,
      );
      [all, hot] = [row?.all ?? 0, row?.hot ?? 0];
      return all >= ids.length;
    });
    expect(hot).toBeGreaterThan(0.9 * all);
  });
});
