import type { Database } from '#platform/database/database.js';
import { isDeleted } from '../account-state.sql.js';
import {
  StorageLedger,
  type AccountDay,
  type AccountTotal,
  type WrittenDay,
} from '../../../application/storage/storage-ledger.js';

// Always in the same order, so that processes with the same accounts can't deadlock.
const ADD = `
  WITH added AS (
    INSERT INTO sluice.storage AS s (account_id, day, bytes, messages)
    SELECT account_id, DATE '1970-01-01' + day, bytes, messages
    FROM unnest($1::text[], $2::integer[], $3::bigint[], $4::bigint[]) AS t (account_id, day, bytes, messages)
    WHERE NOT ${isDeleted('account_id')}
    ORDER BY account_id, day
    ON CONFLICT (account_id, day)
    DO UPDATE SET bytes = s.bytes + excluded.bytes, messages = s.messages + excluded.messages
    RETURNING account_id, day, bytes
  )
  SELECT account_id AS "accountId", day - DATE '1970-01-01' AS day, bytes::float8,
         CASE WHEN plan IS NOT NULL THEN json_build_object('plan', plan, 'maxBytes', max_stored_bytes) END AS planned
  FROM added LEFT JOIN sluice.account_plans ON id = account_id`;

// Removing messages that were never counted, because their process died, makes a day negative.
const TOTALS = `
  SELECT id AS "accountId", plan, max_stored_bytes::float8 AS "maxBytes",
         (SELECT greatest(coalesce(sum(bytes), 0), 0) FROM sluice.storage WHERE account_id = id)::float8 AS bytes
  FROM sluice.account_plans WHERE id = ANY ($1)`;

export class PostgresStorageLedger extends StorageLedger {
  constructor(private readonly database: Database) {
    super();
  }

  add(days: readonly AccountDay[]): Promise<WrittenDay[]> {
    return this.database.query(ADD, [
      days.map(({ accountId }) => accountId),
      days.map(({ day }) => day),
      days.map(({ bytes }) => bytes),
      days.map(({ messages }) => messages),
    ]);
  }

  async totals(accountIds: readonly string[]): Promise<Map<string, AccountTotal>> {
    const rows = await this.database.query<AccountTotal & { accountId: string }>(TOTALS, [accountIds]);
    return new Map(rows.map(({ accountId, ...total }) => [accountId, total]));
  }
}
