import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import type { Database } from '#platform/database/database.js';
import { deleteRows } from '#platform/database/delete-rows.js';

/** Removes the windows of an account, and the bans and strikes of its keys. */
export class ForgetLimits implements ForgetsAccounts {
  constructor(private readonly database: Database) {}

  async *forget(accountId: string): AsyncGenerator<void, boolean> {
    yield* deleteRows(this.database, accountId, { table: 'sluice.offences', key: 'key_id', type: 'text' });
    await this.database.query('DELETE FROM sluice.rate_limits WHERE account_id = $1', [accountId]);
    yield;
    return true;
  }
}
