import { BATCH_BYTES } from '../../application/delivering/job-dispatch.js';
import { isLeased } from './delivery-mode.sql.js';
import { isHalted } from './account-state.sql.js';

/*
 * Starts the delivery of a stored message: an outbox entry, from which its job gets into the queue, a time from which
 * it can be leased, or a delivery to each endpoint. Its delivery mode (DELIVERY_MODES) decides which.
 */

/** How long the worker that returns a message has to remove its job. */
const REMOVING_MS = 1_000;

interface Entries {
  /** The relation to select from. Its rows have `id`, `account_id` and `bytes`, each of a message that has a job. */
  readonly rows: string;
  /** The messages of an entry have this in common. */
  readonly groupBy: string;
  /** When their jobs may be added to the queue. */
  readonly dueAt?: string;
  /** Whether no process has the messages in memory, so that a sweeper must relay them. */
  readonly forSweeper?: string;
  /** Whether a message waits until its account is resumed. */
  readonly isHalted?: string;
  /** Whether messages that wait for that may still have a job. */
  readonly mayHaveJob?: boolean;
}

/** Inserts outbox entries: of each account that is halted other ones, which wait until it is resumed. */
export const insertEntries = ({
  rows,
  groupBy,
  dueAt = 'clock_timestamp()',
  forSweeper = 'false',
  isHalted: waits = isHalted('account_id'),
  mayHaveJob = false,
}: Entries): string => `
    INSERT INTO sluice.outbox (message_ids, bytes, created_at, due_at, for_sweeper, suspended_account)
    SELECT array_agg(id), sum(bytes), clock_timestamp()${mayHaveJob ? ` + interval '${REMOVING_MS} milliseconds'` : ''},
           CASE WHEN halted_account IS NULL THEN ${dueAt} ELSE 'infinity' END,
           ${forSweeper} OR halted_account IS NOT NULL, halted_account
    FROM (SELECT *, CASE WHEN ${waits} THEN account_id END AS halted_account FROM ${rows}) started
    GROUP BY ${groupBy}, halted_account`;

/** Inserts entries of about `BATCH_BYTES` each for messages that are not in memory. */
export const insertEntriesToSweep = (rows: string): string =>
  insertEntries({
    rows: `(SELECT id, account_id, bytes, sum(bytes) OVER (ORDER BY id) / ${BATCH_BYTES} AS entry FROM ${rows}) batched`,
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
