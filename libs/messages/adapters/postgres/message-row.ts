import type { DeliveryMode } from '#kernel/delivery-mode.js';
import { Message, OVERHEAD_BYTES } from '../../domain/message.js';
import {
  CONSUMED,
  CONTENT,
  type ConsumedContent,
  type CONTENT_FIELDS,
  type ContentName,
  type ContentValues,
  type MessageContent,
} from '../../domain/message-content.js';
import { OPEN_STATUSES, type MessageStatus } from '../../domain/message-status.js';

/** The columns of the fields that the sender sets. */
export type ContentRow = {
  -readonly [Name in ContentName as (typeof CONTENT_FIELDS)[Name]['column']]: ContentValues[Name];
};

/** A row of `sluice.messages`. */
export interface MessageRow extends ContentRow {
  id: string;
  account_id: string;
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
  delivery: DeliveryMode;
  next_attempt_at: Date | null;
}

const OTHER_COLUMNS = `id, account_id, status, created_at, updated_at, attempts, failures, crashes, lone_crashes, retries,
  failure_reason, claim, claim_expires_at, claim_alone, traceparent, delivery, next_attempt_at`;

const namesOf = (fields: typeof CONTENT): string => fields.map(({ column }) => column).join(', ');

/**
 * The columns of a MessageRow. Listed instead of `*`: a prepared statement fails on its connection for ever once a
 * migration of a newer version has added a column to its result.
 */
export const COLUMNS = `${OTHER_COLUMNS}, ${namesOf(CONTENT)}`;
/** The columns of the fields that consumers get. */
export const CONSUMED_COLUMNS = namesOf(CONSUMED);
/** The columns of a message except the ones that its job carries. */
export const COLUMNS_WITHOUT_JOB = [OTHER_COLUMNS, namesOf(CONTENT.filter((field) => !CONSUMED.includes(field)))]
  .filter((names) => names !== '')
  .join(', ');

/** Columns of a row that has this name. */
export const columnsOf = (row: string, columns = COLUMNS): string => columns.replaceAll(/\w+/g, `${row}.$&`);

/** Whether the account is suspended: nothing of it is delivered. */
export const isSuspended = (account: string): string =>
  `EXISTS (SELECT FROM sluice.suspended_accounts s WHERE s.id = ${account})`;

/** Whether the account was deleted: its messages are being removed. */
export const isDeleted = (account: string): string => `sluice.is_account_deleted(${account})`;

/** The statuses of open messages, as a list in SQL. */
export const OPEN = OPEN_STATUSES.map((status) => `'${status}'`).join(', ');

/** What every retry of a row `m` changes: it has all its attempts again. */
export const FRESH_ATTEMPTS = `
  updated_at = clock_timestamp(), retries = m.retries + 1, failures = 0, crashes = 0, lone_crashes = 0,
  next_attempt_at = NULL`;

/** The size of the content, as `contentBytes` computes it. @param row the name of its row, followed by a dot */
export const contentBytes = (row = ''): string =>
  CONTENT.filter(({ kind }) => kind === 'text')
    .map(({ column, shown }) => [shown, `octet_length(${row}${column})`] as const)
    .map(([shown, bytes]) => (shown === 'always' ? bytes : `coalesce(${bytes}, 0)`))
    .join(' + ');

/** The size of a message, as `bytesOf` computes it. */
export const BYTES = `${contentBytes()} + ${OVERHEAD_BYTES}`;

/** @param row with the columns of `COLUMNS` */
export function toContent(row: ContentRow): MessageContent {
  const values = row as unknown as Readonly<Record<string, unknown>>;
  const content: Record<string, unknown> = {};
  for (const { name, column } of CONTENT) content[name] = values[column];
  return content as unknown as MessageContent;
}

/** @param row with the columns of `CONSUMED_COLUMNS` */
export function toConsumed(row: object): ConsumedContent {
  const values = row as Readonly<Record<string, unknown>>;
  return Object.fromEntries(CONSUMED.map(({ name, column }) => [name, values[column]])) as unknown as ConsumedContent;
}

/** The values of content by column, for the fields that it has. */
export function contentRow<Content extends ConsumedContent>(content: Content) {
  const values = content as unknown as Readonly<Record<string, unknown>>;
  const row: Record<string, unknown> = {};
  for (const { name, column } of CONTENT) if (name in values) row[column] = values[name];
  return row as Content extends ContentValues ? ContentRow : Partial<ContentRow>;
}

export function toMessage(row: MessageRow): Message {
  return Message.restore({
    id: row.id,
    accountId: row.account_id,
    ...toContent(row),
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
