import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import type { Database } from '#platform/database/database.js';
import { deleteRows } from '#platform/database/delete-rows.js';

/** Removes the events of an account, and the places of its streams. */
export class ForgetEvents implements ForgetsAccounts {
  constructor(private readonly database: Database) {}

  async *forget(accountId: string): AsyncGenerator<void, boolean> {
    yield* deleteRows(this.database, accountId, { table: 'sluice.events', key: 'id', type: 'bigint' });
    await this.database.query('DELETE FROM sluice.event_streams WHERE account_id = $1', [accountId]);
    yield;
    return true;
  }
}
