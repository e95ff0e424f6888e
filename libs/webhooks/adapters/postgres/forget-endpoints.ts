import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import type { Database } from '#platform/database/database.js';

// There are few. Their deliveries are removed with their messages, so that nothing waits for their end.
const DELETE = 'DELETE FROM sluice.endpoints WHERE account_id = $1 RETURNING id';
const DELETE_ENDED = 'DELETE FROM sluice.ended_endpoints WHERE id = ANY ($1)';

/** Removes the endpoints of an account, after its messages. */
export class ForgetEndpoints implements ForgetsAccounts {
  constructor(private readonly database: Database) {}

  async *forget(accountId: string): AsyncGenerator<void, boolean> {
    await this.database.transaction(async (client) => {
      const { rows } = await client.query<{ id: string }>(DELETE, [accountId]);
      await client.query(DELETE_ENDED, [rows.map(({ id }) => id)]);
    });
    yield;
    return true;
  }
}
