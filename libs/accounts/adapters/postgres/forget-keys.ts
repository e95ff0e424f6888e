import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import type { Database } from '#platform/database/database.js';
import { deleteRows } from '#platform/database/delete-rows.js';

/** Removes the keys of an account, and the kept responses that it got or that are about it. */
export class ForgetKeys implements ForgetsAccounts {
  constructor(private readonly database: Database) {}

  async *forget(accountId: string): AsyncGenerator<void, boolean> {
    const responses = { table: 'sluice.kept_responses', key: 'key_hash', type: 'bytea' } as const;
    yield* deleteRows(this.database, accountId, { table: 'sluice.api_keys', key: 'id', type: 'text' });
    yield* deleteRows(this.database, accountId, { ...responses, account: 'scope' });
    yield* deleteRows(this.database, accountId, responses);
    return true;
  }
}
