/**
 * Characters that are invisible, or that change the direction of the text after them, so that a text of others reads as
 * something else. Line ends and tabs are shown as such.
 */
const HIDDEN = /(?![\n\r\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** A text with such characters named: `⟨U+202E⟩`. */
export function nameHidden(text: string): string {
  return text.replace(
    HIDDEN,
    (character) => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );
}
