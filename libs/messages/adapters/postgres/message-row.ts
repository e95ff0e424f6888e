import type { DeliveryMode } from '#kernel/delivery-mode.js';
import { Message, OVERHEAD_BYTES } from '../../domain/message.js';
import { OPEN_STATUSES, type MessageStatus } from '../../domain/message-status.js';

/** A row of `sluice.messages`. */
export interface MessageRow {
  id: string;
  account_id: string;
  text: string;
  status: MessageStatus;
  created_at: Date;
  updated_at: Date;
  attempts: number;
  failures: number;
  crashes: number;
  lone_crashes: number;
  retries: number;
  failure_reason: string | null;
  claim: string | null;
  claim_expires_at: Date | null;
  claim_alone: boolean;
  traceparent: string | null;
  deliver_at: Date | null;
  delivery: DeliveryMode;
  next_attempt_at: Date | null;
}

/**
 * The columns of a MessageRow. Listed instead of `*`: a prepared statement fails on its connection for ever once a
 * migration of a newer version has added a column to its result.
 */
export const COLUMNS = `id, account_id, text, status, created_at, updated_at, attempts, failures, crashes, lone_crashes,
  retries, failure_reason, claim, claim_expires_at, claim_alone, traceparent, deliver_at, delivery, next_attempt_at`;

/** The same of a row that has this name. */
export const columnsOf = (row: string): string => COLUMNS.replaceAll(/\w+/g, `${row}.$&`);

/** Whether the account is suspended: nothing of it is delivered. */
export const isSuspended = (account: string): string =>
  `EXISTS (SELECT FROM sluice.suspended_accounts s WHERE s.id = ${account})`;

/** The statuses of open messages, as a list in SQL. */
export const OPEN = OPEN_STATUSES.map((status) => `'${status}'`).join(', ');

/** What every retry of a row `m` changes: it has all its attempts again. */
export const FRESH_ATTEMPTS = `
  updated_at = clock_timestamp(), retries = m.retries + 1, failures = 0, crashes = 0, lone_crashes = 0,
  next_attempt_at = NULL`;

/** The size of a message, as `bytesOf` computes it. */
export const BYTES = `octet_length(text) + ${OVERHEAD_BYTES}`;

export function toMessage(row: MessageRow): Message {
  return Message.restore({
    id: row.id,
    accountId: row.account_id,
    text: row.text,
    deliverAt: row.deliver_at,
    traceparent: row.traceparent,
    delivery: row.delivery,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    attempts: row.attempts,
    failures: row.failures,
    crashes: row.crashes,
    loneCrashes: row.lone_crashes,
    failureReason: row.failure_reason,
    retries: row.retries,
    nextAttemptAt: row.next_attempt_at,
    claim:
      row.claim === null || row.claim_expires_at === null
        ? null
        : { token: row.claim, expiresAt: row.claim_expires_at, alone: row.claim_alone },
  });
}
