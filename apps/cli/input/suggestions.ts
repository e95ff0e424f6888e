const SUGGESTION = /\n\(Did you mean (?:one of )?(.+)\?\)/;

/** Removes what commander suggests, unless it is one slip of the keyboard away: it also suggests words with half of the letters. */
export function withNearSuggestions(text: string): string {
  const given = /unknown (?:command|option) '([^']*)'/.exec(text)?.[1] ?? '';
  const near = (SUGGESTION.exec(text)?.[1] ?? '').split(', ').filter((word) => isNear(given, word));
  return text.replace(SUGGESTION, near.length === 0 ? '' : `\n(Did you mean ${near.join(' or ')}?)`);
}

/** Whether a letter is missing, added or wrong, or two are swapped; or whether the rest of a word is missing. */
function isNear(given: string, word: string): boolean {
  if (given.length >= 3 && word.startsWith(given)) return true;
  let start = 0;
  while (start < given.length && given[start] === word[start]) start++;
  let [end, wordEnd] = [given.length, word.length];
  while (end > start && wordEnd > start && given[end - 1] === word[wordEnd - 1])
    [end, wordEnd] = [end - 1, wordEnd - 1];
  const [left, right] = [given.slice(start, end), word.slice(start, wordEnd)];
  const isSwapped = left.length === 2 && left === `${right[1] ?? ''}${right[0] ?? ''}`;
  return isSwapped || (left.length <= 1 && right.length <= 1);
}
