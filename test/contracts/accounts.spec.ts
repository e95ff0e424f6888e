import { PostgresAccounts } from '#accounts/adapters/postgres/postgres-accounts.js';
import { describeAccounts, type AccountsSubject } from './accounts.contract.js';
import { InMemoryAccounts } from './fakes/in-memory-accounts.js';
import { PostgresStore } from './postgres-store.js';

function openInMemory(): Promise<AccountsSubject> {
  const accounts = new InMemoryAccounts();
  return Promise.resolve({
    accounts,
    other: accounts,
    has: ({ id }) => Promise.resolve(accounts.accounts.has(id)),
    revoke: ({ id }) => {
      accounts.revoke(id);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
}

async function openPostgres(): Promise<AccountsSubject> {
  const store = await PostgresStore.open();
  const [one, other] = [await store.process(), await store.process()];
  return {
    accounts: new PostgresAccounts(one.database),
    other: new PostgresAccounts(other.database),
    has: async ({ id }) => (await store.sql('SELECT FROM sluice.accounts WHERE id = $1', [id])).length === 1,
    revoke: async ({ id }) => {
      await store.sql('UPDATE sluice.api_keys SET revoked_at = clock_timestamp() WHERE id = $1', [id]);
    },
    close: () => store.close(),
  };
}

describeAccounts('InMemoryAccounts', openInMemory);
describeAccounts('PostgresAccounts', openPostgres);
