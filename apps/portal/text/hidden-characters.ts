/**
 * Characters that are invisible, or that change the direction of the text after them, so that a text of others reads as
 * something else. Line ends and tabs are shown as such, and so are joiners and selectors of variants, which scripts and
 * emoji need.
 */
const HIDDEN =
  /(?![\n\r\t]|\p{Join_Control}|[\u180b-\u180d]|[\ufe00-\ufe0f])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/** A text with such characters named: `⟨U+202E⟩`. */
export function nameHidden(text: string): string {
  return text.replace(
    HIDDEN,
    (character) => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );
}
