import { sha256 } from '#kernel/sha256.js';
import { CONTENT, type ContentValues } from './message-content.js';

/** Lets a caller repeat a request without repeating its effect. */
export interface Idempotency {
  /** The caller's key, unique within the account for 24 hours. */
  readonly key: string;
  /** 32 bytes that differ when the request differs. */
  readonly fingerprint: Buffer;
}

/** How long an idempotency key is kept. */
export const KEY_LIFETIME_MS = 24 * 3_600_000;

/*
 * Requests are equal if they mean the same, however their JSON is formatted. For 24 hours after an update, they are
 * compared with fingerprints of the previous version: the fingerprint of a request without newer fields must stay the
 * same.
 */

/** @returns null for a request without a key */
export function idempotencyOf(key: string | null, content: ContentValues): Idempotency | null {
  if (key === null) return null;
  const { text, deliverAt } = content;
  const optional = optionalOf(content);
  const time = deliverAt === null ? 'send:' : `send-at:${deliverAt.toISOString()}:`;
  const meaning = optional === null ? time + text : `send-with:${JSON.stringify([text, deliverAt, optional])}`;
  return { key, fingerprint: sha256(meaning) };
}

/** The same for a batch. */
export function idempotencyOfBatch(key: string | null, contents: readonly ContentValues[]): Idempotency | null {
  if (key === null) return null;
  const meaning = contents.map((content) => {
    const { text, deliverAt } = content;
    const optional = optionalOf(content);
    return optional === null ? [text, deliverAt] : [text, deliverAt, optional];
  });
  return { key, fingerprint: sha256(`batch:${JSON.stringify(meaning)}`) };
}

/** `deliverAt` was the first optional field, and has its own place. */
const OPTIONAL = CONTENT.filter(({ name, isRequired }) => !isRequired && name !== 'deliverAt');

function optionalOf(content: ContentValues): Record<string, unknown> | null {
  const present = OPTIONAL.filter(({ name }) => content[name] !== null);
  return present.length === 0 ? null : Object.fromEntries(present.map(({ name, json }) => [json, content[name]]));
}
