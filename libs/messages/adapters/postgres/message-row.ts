import type { DeliveryMode } from '#kernel/delivery-mode.js';
import { Message } from '../../domain/message.js';
import {
  CONTENT,
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

/** A row of `sluice.messages`, without its content. */
export interface StateRow {
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
  next_attempt_at: Date | number | null;
}

/** A row of `sluice.messages`. */
export interface MessageRow extends StateRow, ContentRow {}

/** The columns of a message except the ones that its job carries. */
export const COLUMNS_WITHOUT_JOB = `id, account_id, status, created_at, updated_at, attempts, failures, crashes, lone_crashes, retries,
  failure_reason, claim, claim_expires_at, claim_alone, traceparent, delivery, next_attempt_at`;

/** The columns of the fields that the sender sets. */
export const CONTENT_COLUMNS = CONTENT.map(({ column }) => column).join(', ');

/**
 * The columns of a MessageRow. Listed instead of `*`: a prepared statement fails on its connection for ever once a
 * migration of a newer version has added a column to its result.
 */
export const COLUMNS = `${COLUMNS_WITHOUT_JOB}, ${CONTENT_COLUMNS}`;

/** Columns of a row that has this name. */
export const columnsOf = (row: string, columns = COLUMNS): string => columns.replaceAll(/\w+/g, `${row}.$&`);

/**
 * Joins messages `m` by their ids to some that were found before. The ids stand beside the join: a plan made while the
 * table was empty would otherwise read the whole table.
 */
export const isFound = (found: string): string => `m.id = ANY (ARRAY(SELECT id FROM ${found})) AND m.id = ${found}.id`;

/** The statuses of open messages, as a list in SQL. */
export const OPEN = OPEN_STATUSES.map((status) => `'${status}'`).join(', ');

/** What every retry of a row `m` changes: it has all its attempts again. */
export const FRESH_ATTEMPTS = `
  updated_at = clock_timestamp(), retries = m.retries + 1, failures = 0, crashes = 0, lone_crashes = 0,
  next_attempt_at = NULL`;

/** @param row with the columns of `CONTENT_COLUMNS` */
export function toContent(row: object): MessageContent {
  const values = row as Readonly<Record<string, unknown>>;
  const content: Record<string, unknown> = {};
  for (const { name, column } of CONTENT) content[name] = values[column];
  return content as unknown as MessageContent;
}

/** The values of content by column. */
export function contentRow(content: ContentValues): ContentRow {
  const row: Record<string, unknown> = {};
  for (const { name, column } of CONTENT) row[column] = content[name];
  return row as unknown as ContentRow;
}

export function toMessage(row: MessageRow): Message {
  return withContent(row, toContent(row));
}

/** @param content as it was stored */
export function withContent(row: StateRow, content: ContentValues): Message {
  return Message.restore({
    id: row.id,
    accountId: row.account_id,
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
    // Infinity: it waits for the end of another message.
    nextAttemptAt: row.next_attempt_at instanceof Date ? row.next_attempt_at : null,
    claim:
      row.claim === null || row.claim_expires_at === null
        ? null
        : { token: row.claim, expiresAt: row.claim_expires_at, alone: row.claim_alone },
    ...(content as MessageContent),
  });
}
