import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresAccounts } from '#accounts/adapters/postgres/postgres-accounts.js';
import type { Account } from '#accounts/domain/account.js';
import type { ApiKey } from '#accounts/domain/api-key.js';
import { Database } from '#platform/database/database.js';
import { createTestDatabase } from '../support/database.js';
import { SENT_AT } from '../support/messages.js';
import { aHash, aKey, anAccount, describeAccounts } from './accounts.contract.js';
import { InMemoryAccounts } from './fakes/in-memory-accounts.js';

async function openPostgres() {
  const testDatabase = await createTestDatabase();
  const database = await Database.connect({
    ...{ url: testDatabase.url, poolSize: 5, applicationName: 'contract', onError: () => undefined },
  });
  const close = async () => {
    await database.close();
    await testDatabase.drop();
  };
  return { accounts: await PostgresAccounts.open(database), database, close };
}

describeAccounts('InMemoryAccounts', () =>
  Promise.resolve({ accounts: new InMemoryAccounts(), close: () => Promise.resolve() }),
);
describeAccounts('PostgresAccounts', openPostgres);

describe('PostgresAccounts', () => {
  let parts: Awaited<ReturnType<typeof openPostgres>>;
  let database: Database;
  let accounts: PostgresAccounts;
  let account: Account;
  let key: ApiKey;

  beforeAll(async () => {
    parts = await openPostgres();
    ({ database, accounts } = parts);
  });
  afterAll(() => parts.close());
  beforeEach(async () => {
    account = anAccount();
    key = aKey(account.id);
    await accounts.add(account, key, aHash());
  });

  const changes: [string, () => Promise<unknown>][] = [
    ['a key is revoked by hand', () => byHand('UPDATE sluice.api_keys SET revoked_at = now() WHERE id = $1')],
    ['its scopes are changed by hand', () => byHand("UPDATE sluice.api_keys SET scopes = '{}' WHERE id = $1")],
    ['a key is deleted by hand', () => byHand('DELETE FROM sluice.api_keys WHERE id = $1')],
    [
      'limits are changed by hand',
      () => database.query('UPDATE sluice.accounts SET per_minute = 1 WHERE id = $1', [account.id]),
    ],
  ];
  const byHand = (statement: string) => database.query(statement, [key.id]);

  it.each(changes)('moves the epoch of the account when %s', async (_name, change) => {
    await change();
    const [row] = await database.query<{ epoch: string }>('SELECT epoch FROM sluice.accounts WHERE id = $1', [
      account.id,
    ]);
    expect(Number(row?.epoch)).toBeGreaterThan(0);
  });

  it('locks keys in one order, so that two processes cannot deadlock', async () => {
    const keys = [aKey(account.id), aKey(account.id)].sort((one, other) => (one.id < other.id ? 1 : -1));
    const [high = '', low = ''] = keys.map(({ id }) => id);
    for (const one of keys) await accounts.addKey(one, aHash());
    const saving = await database.transaction(async (client) => {
      await client.query('SELECT FROM sluice.api_keys WHERE id = $1 FOR UPDATE', [low]);
      const write = accounts.saveLastUses(new Map([high, low].map((id) => [id, SENT_AT])));
      const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      while ((await database.query(waiting)).length === 0) await sleep(5);
      const free = await database.query('SELECT FROM sluice.api_keys WHERE id = $1 FOR UPDATE SKIP LOCKED', [high]);
      return { write, free: free.length };
    });
    await saving.write;

    expect(saving.free).toBe(1);
    const stored = await accounts.listKeys(account.id, { limit: 3, before: null });
    expect(stored.filter(({ lastUsedAt }) => lastUsedAt !== null)).toHaveLength(2);
  });
});
