/** Bytes of UTF-8. */
export const MAX_TEXT_BYTES = 262_144;

/**
 * What keeps a text from being a message, as a sentence for the caller; null when nothing does.
 * U+0000 and lone surrogates are refused because no store returns them byte for byte.
 */
export function textFault(text: string): string | null {
  if (text.length === 0) return 'message must not be empty.';
  // A UTF-16 code unit is 1 to 3 bytes of UTF-8, so only what lies between needs to be counted.
  if (text.length > MAX_TEXT_BYTES || (text.length * 3 > MAX_TEXT_BYTES && Buffer.byteLength(text) > MAX_TEXT_BYTES)) {
    return `message must be at most ${MAX_TEXT_BYTES} bytes of UTF-8.`;
  }
  if (text.includes('\u0000')) return 'message must not contain U+0000.';
  if (!text.isWellFormed()) return 'message must not contain lone surrogates.';
  return null;
}
