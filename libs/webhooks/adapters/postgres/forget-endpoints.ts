import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import type { Database } from '#platform/database/database.js';

// There are few.
const DELETE = 'DELETE FROM sluice.endpoints WHERE account_id = $1';

// Their accounts are not known any more. Without a delivery, nothing waits for their end.
const DELETE_ENDED = `
  DELETE FROM sluice.ended_endpoints e WHERE reason = 'endpoint_deleted' AND NOT EXISTS (
    SELECT FROM sluice.endpoint_deliveries d
    WHERE ready = ANY ('{true,false}') AND d.endpoint_id = e.id AND due_at IS NOT NULL
  )`;

/** Removes the endpoints of an account, also what is left of those that it has deleted itself, after its messages. */
export class ForgetEndpoints implements ForgetsAccounts {
  constructor(private readonly database: Database) {}

  async *forget(accountId: string): AsyncGenerator<void, boolean> {
    await this.database.query(DELETE, [accountId]);
    await this.database.query(DELETE_ENDED);
    yield;
    return true;
  }
}
