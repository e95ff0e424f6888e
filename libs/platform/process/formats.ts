import type { Format } from './environment.js';

/** @param secret whether the error must not contain the text */
export function matching(expected: string, isAccepted: (text: string) => boolean, secret = false): Format<string> {
  return { expected, parse: (text) => (isAccepted(text) ? text : undefined), secret };
}

/** A URL may contain a password. */
export function url(example: string, form: RegExp): Format<string> {
  return matching(`a URL like ${example}`, (text) => form.test(text) && URL.canParse(text), true);
}
