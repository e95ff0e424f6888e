import type { Database } from '#platform/database/database.js';
import { insertEntriesFor } from './open-messages.sql.js';
import { BATCH_BYTES, type Message, OPEN_STATUSES } from '#messages/index.js';
import { Outbox, REFUSED_DELAY_MS } from '../../application/outbox.js';
import {
  COLUMNS,
  hasJob,
  isDeleted,
  isHalted,
  isTakenBack,
  type MessageRow,
  toMessage,
} from '#messages/adapters/postgres/index.js';

const SWEEP_ENTRIES = 200;

// Entries that a process relays itself are only swept when they have waited for too long.
// `statement_timestamp()` is stable, so that an index can be used.
const DUE = `due_at <= statement_timestamp()
  AND (for_sweeper OR due_at <= statement_timestamp() - $1 * interval '1 millisecond')`;

// Ordered so that the index is used.
const FIND_DUE = `SELECT FROM sluice.outbox WHERE ${DUE} ORDER BY due_at LIMIT 1`;

// Entries of a suspended account are due at `infinity`.
const NEXT_IN = `
  SELECT CASE WHEN suspended THEN 0 ELSE greatest(0, extract(epoch FROM due_at - clock_timestamp()) * 1000) END::float8 AS ms
  FROM (SELECT EXISTS (SELECT FROM sluice.outbox WHERE suspended_account IS NOT NULL) AS suspended) waiting
  LEFT JOIN LATERAL (
    SELECT due_at FROM sluice.outbox WHERE due_at < 'infinity' ORDER BY due_at LIMIT 1
  ) next ON true
  WHERE suspended OR due_at IS NOT NULL`;

const REMOVE = 'DELETE FROM sluice.outbox WHERE id = ANY ($1::bigint[])';

const POSTPONE = `
  UPDATE sluice.outbox SET message_ids = $2, due_at = clock_timestamp() + interval '${REFUSED_DELAY_MS} milliseconds' WHERE id = $1`;

// In steps, and only when nothing else is due, so that other accounts do not wait for these. An entry whose messages may
// still have jobs is created in the future.
const RESUME = `
  WITH RECURSIVE waiting (account_id) AS (
    (SELECT suspended_account FROM sluice.outbox WHERE suspended_account IS NOT NULL ORDER BY 1 LIMIT 1)
    UNION ALL
    SELECT (SELECT suspended_account FROM sluice.outbox WHERE suspended_account > account_id ORDER BY 1 LIMIT 1)
    FROM waiting WHERE account_id IS NOT NULL
  ), resumed AS (
    SELECT entry.id FROM waiting, LATERAL (
      SELECT id FROM sluice.outbox WHERE suspended_account = account_id LIMIT ${SWEEP_ENTRIES} FOR UPDATE SKIP LOCKED
    ) entry
    WHERE NOT ${isHalted('account_id')}
  )
  UPDATE sluice.outbox o
  SET suspended_account = NULL, due_at = greatest(clock_timestamp(), created_at)
  FROM resumed WHERE o.id = resumed.id RETURNING o.id`;

export class PostgresOutbox extends Outbox {
  constructor(private readonly database: Database) {
    super();
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.database.query(REMOVE, [ids]);
  }

  async postpone(id: string, messageIds: readonly string[]): Promise<void> {
    await this.database.query(POSTPONE, [id, messageIds]);
  }

  async nextIn(): Promise<number | null> {
    const [row] = await this.database.prepared<{ ms: number }>('next-entry', NEXT_IN, []);
    return row?.ms ?? null;
  }

  async sweep(minAgeMs: number, relay: (messages: readonly Message[]) => Promise<Set<string>>): Promise<number> {
    // Mostly nothing is due: one statement instead of a transaction.
    const due = await this.database.prepared('due-entries', FIND_DUE, [minAgeMs]);
    if (due.length === 0) return (await this.database.query(RESUME)).length;
    return this.database.transaction(async (client) => {
      const { rows: locks } = await client.query<{ locked: boolean }>(
        `SELECT pg_try_advisory_xact_lock(hashtext('sluice.outbox')) AS locked`,
      );
      if (locks[0]?.locked !== true) return 0;
      const { rows: entries } = await client.query<{ id: string; message_ids: string[] }>(
        `SELECT id, message_ids FROM (
           SELECT id, message_ids, bytes, due_at, sum(bytes) OVER (ORDER BY due_at, id) AS total FROM (
             SELECT * FROM sluice.outbox WHERE ${DUE}
             ORDER BY due_at, id LIMIT $2
           ) due
         ) counted WHERE total <= $3 OR total = bytes ORDER BY due_at, id`,
        [minAgeMs, SWEEP_ENTRIES, BATCH_BYTES],
      );
      if (entries.length === 0) return 0;
      const { rows } = await client.query<MessageRow & { is_halted: boolean }>(
        `SELECT ${COLUMNS}, ${isHalted('account_id')} AS is_halted FROM sluice.messages
         WHERE id = ANY ($1) AND status = ANY ($2) AND ${hasJob('delivery')} AND (${isTakenBack('messages')}) IS NOT TRUE
           AND NOT ${isDeleted('account_id')}
         ORDER BY id`,
        [entries.flatMap(({ message_ids }) => message_ids), OPEN_STATUSES],
      );
      const [halted, ready] = [rows.filter((row) => row.is_halted), rows.filter((row) => !row.is_halted)];
      if (halted.length > 0) await client.query(insertEntriesFor('$1'), [halted.map(({ id }) => id)]);
      const refused = await relay(ready.map(toMessage));
      const done: string[] = [];
      for (const { id, message_ids } of entries) {
        const rest = message_ids.filter((messageId) => refused.has(messageId));
        if (rest.length > 0) await client.query(POSTPONE, [id, rest]);
        else done.push(id);
      }
      await client.query(REMOVE, [done]);
      return entries.length;
    });
  }
}
