/** A part of a text: what it is, as far as it has a colour. */
export interface Token {
  readonly kind: 'name' | 'string' | 'number' | 'word' | 'plain';
  readonly text: string;
}

/** More makes browsers slow. */
const MAX_LENGTH = 65_536;
/** What is nested deeper is indented no further: a text of brackets would become many times as long. */
const MAX_INDENT = 40;
const TOKEN = /("(?:\\.|[^"\\])*")(?=(\s*:)?)|(-?\d[\d.eE+-]*)|(true|false|null)|([[{])\s*([\]}])?|([\]}])|(,)|(:)/g;

/**
 * An object or array in JSON, on indented lines. Its values are those of the text: numbers keep all digits, and names
 * that are repeated stay.
 * @returns null if the text is none, or too long
 */
export function prettyJson(text: string): readonly Token[] | null {
  if (text.length > MAX_LENGTH || !/^\s*[[{]/.test(text) || !isJson(text)) return null;
  const tokens: Token[] = [];
  let depth = 0;
  const line = () => `\n${'  '.repeat(Math.min(depth, MAX_INDENT))}`;
  const add = (kind: Token['kind'], part: string) => {
    const last = tokens.at(-1);
    if (kind === 'plain' && last?.kind === 'plain') tokens[tokens.length - 1] = { kind, text: last.text + part };
    else tokens.push({ kind, text: part });
  };
  for (const [, string, colon, number, word, open, emptyEnd, end, comma] of text.matchAll(TOKEN)) {
    if (string !== undefined) add(colon === undefined ? 'string' : 'name', string);
    else if (number !== undefined) add('number', number);
    else if (word !== undefined) add('word', word);
    else if (open !== undefined && emptyEnd !== undefined) add('plain', open + emptyEnd);
    else if (open !== undefined) {
      depth++;
      add('plain', open + line());
    } else if (end !== undefined) {
      depth--;
      add('plain', line() + end);
    } else add('plain', comma === undefined ? ': ' : `,${line()}`);
  }
  return tokens;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
