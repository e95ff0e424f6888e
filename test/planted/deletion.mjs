const ACCOUNTS = 'libs/accounts/adapters/postgres/postgres-accounts.ts';
const DELETIONS = 'libs/accounts/adapters/postgres/postgres-deletions.ts';
const FORGETTING = 'apps/forgetting.ts';
const CONTRACT = ['test/contracts/deleted-accounts.spec.ts'];
const WALK = ['test/e2e/admin/delete-account.spec.ts'];

const forgets = (part, what) => ({
  what: `what is stored of a deleted account stays: ${what}`,
  file: FORGETTING,
  find: `  ${part},\n`,
  replace: '',
  tests: WALK,
});

export default [
  {
    what: 'a key of a deleted account stays known',
    file: ACCOUNTS,
    find: 'revoked_at IS NULL AND NOT deleting`',
    replace: 'revoked_at IS NULL`',
    tests: CONTRACT,
  },
  {
    what: 'a deleted account is changed',
    file: ACCOUNTS,
    find: 'WHERE id = $1 AND NOT deleting FOR NO KEY UPDATE',
    replace: 'WHERE id = $1 FOR NO KEY UPDATE',
    tests: CONTRACT,
  },
  {
    what: 'the store takes a message of a deleted account',
    file: 'libs/messages/adapters/postgres/migrations/0005-deleted-accounts.sql',
    find: 'FROM new_rows) senders',
    replace: 'FROM new_rows WHERE false) senders',
    tests: CONTRACT,
  },
  {
    what: 'a request of a deleted account fails with 500',
    file: 'libs/messages/adapters/postgres/sending/group-commit.ts',
    find: 'length === 1 && sqlState(error) === ACCOUNT_DELETED ? unauthorized() : error',
    replace: 'length === 0 && sqlState(error) === ACCOUNT_DELETED ? unauthorized() : error',
    tests: CONTRACT,
  },
  {
    what: 'what a deleted account stores is counted',
    file: 'libs/messages/adapters/postgres/storage/postgres-storage-ledger.ts',
    find: "WHERE NOT ${isDeleted('account_id')}",
    replace: 'WHERE true',
    tests: CONTRACT,
  },
  {
    what: 'a deleted account gets a stream',
    file: 'libs/events/adapters/postgres/events.sql.ts',
    find: " AND NOT ${isDeleted('$1')}",
    replace: '',
    tests: CONTRACT,
  },
  {
    what: 'messages of a deleted account are relayed to the queue',
    file: 'libs/delivery/adapters/postgres/postgres-outbox.ts',
    find: " AND NOT ${isDeleted('account_id')}",
    replace: '',
    tests: CONTRACT,
  },
  {
    what: 'messages of a deleted account are strays',
    file: 'libs/delivery/adapters/postgres/postgres-stray-messages.ts',
    find: " AND NOT ${isDeleted('m.account_id')}",
    replace: '',
    tests: CONTRACT,
  },
  {
    what: 'two processes remove the same account',
    file: DELETIONS,
    find: 'worker <> $1 AND worker_until > clock_timestamp()',
    replace: 'worker <> $1 AND worker_until < clock_timestamp()',
    tests: CONTRACT,
  },
  {
    what: 'a deleted account is removed before transactions of its time have ended',
    file: DELETIONS,
    find: 'WHERE passes > 0',
    replace: 'WHERE passes > -1',
    tests: CONTRACT,
  },
  {
    what: 'a removal that left something counts',
    file: DELETIONS,
    find: 'passes = d.passes + $2::boolean::int',
    replace: 'passes = d.passes + 1',
    tests: CONTRACT,
  },
  {
    what: 'messages that are locked when they should be removed stay for ever',
    file: 'libs/messages/adapters/postgres/forgetting/forget-messages.ts',
    find: 'return !(await this.hasAny(accountId));',
    replace: 'return (await this.hasAny(accountId)) || true;',
    tests: CONTRACT,
  },
  {
    what: 'a large account holds up the deletion of others',
    file: 'libs/accounts/application/forget-accounts.ts',
    find: 'for (const accountId of accounts) await this.step(accountId);',
    replace: 'for (const accountId of accounts.slice(0, 1)) await this.step(accountId);',
    tests: CONTRACT,
  },
  forgets('ForgetTraces', 'ids of its messages in the outbox and the queue'),
  forgets('ForgetEvents', 'events'),
  forgets('ForgetEndpoints', 'endpoints'),
  forgets('ForgetLimits', 'bans'),
  {
    what: 'what is stored of a deleted account stays: responses to operators',
    file: 'libs/accounts/adapters/postgres/forget-keys.ts',
    find: 'yield* deleteRows(this.database, accountId, responses);',
    replace: '',
    tests: WALK,
  },
  {
    what: 'two accounts have the same external id',
    file: 'libs/accounts/adapters/postgres/migrations/0003-accounts-by-operators.sql',
    find: 'CREATE UNIQUE INDEX accounts_external_id',
    replace: 'CREATE INDEX accounts_external_id',
    tests: ['test/e2e/admin/create-account.spec.ts'],
  },
];
