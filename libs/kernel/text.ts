/** Whether a text has more Unicode code points than this. */
export function isLongerThan(text: string, codePoints: number): boolean {
  // A code point is one or two UTF-16 units, so the code points of a very long text need not be counted.
  return text.length > 2 * codePoints || Array.from(text).length > codePoints;
}

/** Whether PostgreSQL returns a text as it was: it has neither U+0000 nor lone surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/**
 * C0 and C1 controls, line separators, characters that change the direction of text, and invisible ones such as tags, but
 * for joiners and selectors of variants, which scripts and emoji need.
 */
const UNSEEN =
  /(?!\p{Join_Control}|[\u180b-\u180d]|[\ufe00-\ufe0f])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;
const LINE_ENDS_AND_TABS = /\r\n|[\t-\r\u0085\u2028\u2029]/g;

/** The beginning of a text: so many Unicode code points. */
function beginningOf(text: string, codePoints: number): string {
  return Array.from(text.slice(0, 2 * codePoints))
    .slice(0, codePoints)
    .join('');
}

/**
 * The beginning of a text that a program wrote, in one line that any terminal, log or page can show: without U+0000, and
 * with U+FFFD for each other character that acts on its surroundings.
 * @param maxLength Unicode code points
 */
export function toPlainLine(text: string, maxLength: number): string {
  const storable = beginningOf(text.replaceAll('\u0000', ''), maxLength).toWellFormed();
  return storable.replace(LINE_ENDS_AND_TABS, ' ').replace(UNSEEN, '\ufffd');
}
