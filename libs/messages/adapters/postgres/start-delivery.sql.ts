import { BATCH_BYTES } from '../../application/delivering/job-dispatch.js';
import { isLeased } from './delivery-mode.sql.js';

/*
 * Starts the delivery of a stored message: an outbox entry, from which its job gets into the queue, a time from which
 * it can be leased, or a delivery to each endpoint. Its delivery mode (DELIVERY_MODES) decides which.
 */

interface Entries {
  /** The relation to select from. Its rows have `id` and `bytes`, each of a message that has a job. */
  readonly rows: string;
  /** The messages of an entry have this in common. */
  readonly groupBy: string;
  /** When their jobs may be added to the queue. */
  readonly dueAt?: string;
  /** Whether no process has the messages in memory, so that a sweeper must relay them. */
  readonly forSweeper?: string;
  /** The account for whose resumption they wait. */
  readonly suspendedAccount?: string;
}

/** Inserts outbox entries. */
export const insertEntries = ({
  rows,
  groupBy,
  dueAt = 'clock_timestamp()',
  forSweeper = 'false',
  suspendedAccount = 'NULL',
}: Entries): string => `
    INSERT INTO sluice.outbox (message_ids, bytes, due_at, for_sweeper, suspended_account)
    SELECT array_agg(id), sum(bytes), ${dueAt}, ${forSweeper}, ${suspendedAccount}
    FROM ${rows} GROUP BY ${groupBy}`;

/** Inserts entries of about `BATCH_BYTES` each for messages that are not in memory. */
export const insertEntriesToSweep = (rows: string): string =>
  insertEntries({
    rows: `(SELECT id, bytes, sum(bytes) OVER (ORDER BY id) / ${BATCH_BYTES} AS entry FROM ${rows}) batched`,
    groupBy: 'entry',
    forSweeper: 'true',
  });

/** The `available_at` of a message that may be leased from a time on; null in the other modes. */
export const availableFrom = (time: string): string => `CASE WHEN ${isLeased('delivery')} THEN ${time} END`;

/** The time from which a message or a delivery may be leased: one with a place in a line only once it is released. */
export const releasedAt = (position: string, time: string): string =>
  `CASE WHEN ${position} IS NULL THEN ${time} ELSE 'infinity'::timestamptz END`;

/** Inserts deliveries: rows with `message_id`, `endpoint_id`, `account_id` and `due_at`. */
export const insertDeliveries = (rows: string): string => `
    INSERT INTO sluice.endpoint_deliveries (message_id, endpoint_id, account_id, due_at, ready)
    SELECT message_id, endpoint_id, account_id, due_at, due_at <= clock_timestamp() FROM (${rows}) deliveries`;

/** The same for messages that may have a delivery to the endpoint, which starts anew. */
export const restartDeliveries = (rows: string): string => `${insertDeliveries(rows)}
    ON CONFLICT (message_id, endpoint_id)
    DO UPDATE SET due_at = excluded.due_at, ready = excluded.ready, failures = 0, abandoned = NULL`;
