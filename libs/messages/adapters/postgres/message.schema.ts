import { EntitySchema } from 'typeorm';
import { Message, OVERHEAD_BYTES } from '../../domain/message.js';
import type { MessageStatus } from '../../domain/message-status.js';

/** A row of `sluice.messages`. The table itself is made by migrations. */
export interface MessageRow {
  id: string;
  account_id: string;
  body: string;
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
}

export const MessageSchema = new EntitySchema<MessageRow>({
  name: 'message',
  schema: 'sluice',
  tableName: 'messages',
  columns: {
    id: { type: 'text', primary: true },
    account_id: { type: 'text' },
    body: { type: 'text' },
    status: { type: 'text' },
    created_at: { type: 'timestamptz' },
    updated_at: { type: 'timestamptz' },
    attempts: { type: 'integer' },
    failures: { type: 'integer' },
    crashes: { type: 'integer' },
    lone_crashes: { type: 'integer' },
    retries: { type: 'integer' },
    failure_reason: { type: 'text', nullable: true },
    claim: { type: 'uuid', nullable: true },
    claim_expires_at: { type: 'timestamptz', nullable: true },
    claim_alone: { type: 'boolean' },
    traceparent: { type: 'text', nullable: true },
    deliver_at: { type: 'timestamptz', nullable: true },
  },
});

/** By their names, for a statement whose rows are mapped by `toMessage`. */
export const COLUMNS = Object.keys(MessageSchema.options.columns).join(', ');

/** What a message takes up, as `bytesOf` says it of one that is at hand. */
export const BYTES = `octet_length(body) + ${OVERHEAD_BYTES}`;

export function toMessage(row: MessageRow): Message {
  return Message.restore({
    id: row.id,
    accountId: row.account_id,
    text: row.body,
    deliverAt: row.deliver_at,
    traceparent: row.traceparent,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    attempts: row.attempts,
    failures: row.failures,
    crashes: row.crashes,
    loneCrashes: row.lone_crashes,
    failureReason: row.failure_reason,
    retries: row.retries,
    claim:
      row.claim === null || row.claim_expires_at === null
        ? null
        : { token: row.claim, expiresAt: row.claim_expires_at, alone: row.claim_alone },
  });
}
