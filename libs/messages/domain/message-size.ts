import { CONTENT, type ContentValues } from './message-content.js';
import type { Message } from './message.js';

/** The bytes that a message counts in addition to its content: about the size of the rest of its row. */
export const OVERHEAD_BYTES = 256;

/**
 * The bytes that each delivery to an endpoint and each retry counts: about the size of its row and of its first attempt.
 * The bytes of further attempts and long responses are counted when they are stored.
 */
export const DELIVERY_BYTES = 1_024;

/** What an attempt is counted with besides its texts, in bytes: about the size of the rest of its row. */
export const ATTEMPT_BYTES = 256;

/** The size of messages, in bytes. */
export function bytesOf(messages: readonly Message[]): number {
  let bytes = 0;
  for (const { state } of messages) bytes += contentBytes(state) + OVERHEAD_BYTES;
  return bytes;
}

/** The size of the content of a message, in bytes of UTF-8. */
export function contentBytes(content: ContentValues): number {
  let bytes = 0;
  for (const { name, kind } of CONTENT) {
    const value = content[name];
    if (value === null || kind === 'time') continue;
    bytes += Buffer.byteLength(kind === 'text' ? (value as string) : JSON.stringify(value));
  }
  return bytes;
}
