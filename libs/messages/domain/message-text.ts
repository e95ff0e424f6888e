/** Bytes of UTF-8. A CHECK of the table, `sluice send --batch` and the portal repeat it. */
export const MAX_TEXT_BYTES = 262_144;

/**
 * Why a text can't be a message, as a sentence for the caller; null when it can.
 * U+0000 and lone surrogates are rejected because no store returns them byte for byte.
 */
export function textError(text: string): string | null {
  if (text.length === 0) return 'message must not be empty.';
  // A UTF-16 code unit takes 1 to 3 bytes of UTF-8, so most texts need no counting.
  if (text.length > MAX_TEXT_BYTES || (text.length * 3 > MAX_TEXT_BYTES && Buffer.byteLength(text) > MAX_TEXT_BYTES)) {
    return `message must be at most ${MAX_TEXT_BYTES} bytes of UTF-8.`;
  }
  if (text.includes('\u0000')) return 'message must not contain U+0000.';
  if (!text.isWellFormed()) return 'message must not contain lone surrogates.';
  return null;
}
