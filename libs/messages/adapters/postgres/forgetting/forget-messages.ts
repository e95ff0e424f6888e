import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import type { Database } from '#platform/database/database.js';
import { deleteRows } from '#platform/database/delete-rows.js';
import { MESSAGE_STATUSES, type MessageStatus } from '../../../domain/message-status.js';

/** Messages that one transaction removes. */
const STEP = 500;

// In the order of the index by status, so that no step reads what the ones before have removed. The account is a range
// for the reason that lists have. Rows that are locked are left to the next round.
const LOCK = `
  SELECT id FROM sluice.messages
  WHERE account_id >= $1 AND account_id <= $1 AND status = $2 AND id > $3
  ORDER BY account_id, id LIMIT ${STEP} FOR UPDATE SKIP LOCKED`;

// Whoever adds an attempt or a delivery has locked the message: statements after LOCK see all of them.
const DELETE = [
  `DELETE FROM sluice.ordered_deliveries o USING (
     SELECT coalesce(d.endpoint_id, m.account_id || ' ' || m.delivery) AS line, m.ordering_key, m.position
     FROM sluice.messages m LEFT JOIN sluice.endpoint_deliveries d ON d.message_id = m.id
     WHERE m.id = ANY ($1) AND m.position IS NOT NULL
   ) t WHERE o.line = t.line AND o.ordering_key = t.ordering_key AND o.position = t.position`,
  'DELETE FROM sluice.attempts WHERE message_id = ANY ($1)',
  'DELETE FROM sluice.endpoint_deliveries WHERE message_id = ANY ($1)',
  'DELETE FROM sluice.messages WHERE id = ANY ($1)',
];

/** Removes the messages of an account with their attempts and deliveries, its idempotency keys, and what it has stored. */
export class ForgetMessages implements ForgetsAccounts {
  constructor(private readonly database: Database) {}

  async *forget(accountId: string): AsyncGenerator<void, boolean> {
    // A message may have changed its status meanwhile.
    for (let removed = 1; removed > 0;) {
      removed = 0;
      for (const status of MESSAGE_STATUSES) {
        for (let last: string | null = ''; (last = await this.removeSome(accountId, status, last)) !== null; yield)
          removed++;
      }
    }
    const keys = { table: 'sluice.idempotency_keys', key: 'key', type: 'text' } as const;
    yield* deleteRows(this.database, accountId, keys);
    await this.database.query('DELETE FROM sluice.storage WHERE account_id = $1', [accountId]);
    yield;
    return !(await this.hasAny(accountId));
  }

  /** @returns the last message that was removed; null when there is none after this one */
  private async removeSome(accountId: string, status: MessageStatus, after: string): Promise<string | null> {
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<{ id: string }>(LOCK, [accountId, status, after]);
      const ids = rows.map(({ id }) => id);
      if (ids.length > 0) for (const statement of DELETE) await client.query(statement, [ids]);
      return ids.at(-1) ?? null;
    });
  }

  /** Whether a message was skipped because it was locked. */
  private async hasAny(accountId: string): Promise<boolean> {
    const text = 'SELECT FROM sluice.messages WHERE account_id = $1 LIMIT 1';
    return (await this.database.query(text, [accountId])).length > 0;
  }
}
