/**
 * Characters that must be escaped on a terminal: control characters, which move the cursor or set the title of the
 * window; separators of lines; characters that change the direction of text, so that it reads as something else; and
 * characters that nobody sees, such as tags, but for those that scripts and emoji need: joiners and selectors of variants.
 */
const HIDDEN =
  /(?!\p{Join_Control}|[\u180b-\u180d]|[\ufe00-\ufe0f])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\ud800-\udfff]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A text in one line, with escapes for the characters that are not shown as they are. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => SHORT[character] ?? escape(character));
}

/** JSON with escapes for the same characters: parsed, it is the same. */
export function visibleJson(value: unknown, indent = 0): string {
  // A line end of it is between its tokens.
  return JSON.stringify(value, null, indent).replace(HIDDEN, (character) =>
    character === '\n' ? character : escape(character),
  );
}

/**
 * Lines of output with escapes for the same characters, except tabs and, with colours, the sequences that set colours.
 */
export function visibleLines(text: string, hasColors: boolean): string {
  // oxlint-disable-next-line no-control-regex -- sequences that set colours begin with one
  const kept = hasColors ? /(\n|\t|\u001b\[\d{1,3}m)/ : /(\n|\t)/;
  return text
    .split(kept)
    .map((part, at) => (at % 2 === 1 ? part : visible(part)))
    .join('');
}

/** An escape of JSON: two for a character beyond U+FFFF. */
function escape(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
