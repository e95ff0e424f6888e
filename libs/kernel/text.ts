/** Whether a text has more Unicode code points than this. */
export function isLongerThan(text: string, codePoints: number): boolean {
  // A code point is one or two UTF-16 units, so the code points of a very long text need not be counted.
  return text.length > 2 * codePoints || Array.from(text).length > codePoints;
}

/** Whether PostgreSQL returns a text as it was: it has neither U+0000 nor lone surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** The beginning of a text, without what `isStorable` refuses. */
export function toStorable(text: string, maxLength: number): string {
  return text.replaceAll('\u0000', '').slice(0, maxLength).toWellFormed();
}
