import { withNearSuggestions } from './suggestions.js';

const suggested = (given: string, ...words: string[]) =>
  withNearSuggestions(
    `error: unknown command '${given}'\n(Did you mean ${words.length > 1 ? 'one of ' : ''}${words.join(', ')}?)`,
  ).split('\n')[1];

describe('A suggestion', () => {
  it.each([
    ['sned', 'send'],
    ['sen', 'send'],
    ['sendd', 'send'],
    ['sand', 'send'],
    ['endpoint', 'endpoints'],
    ['whoam', 'whoami'],
    ['del', 'delivery'],
    ['--jsno', '--json'],
    ['--bathc', '--batch'],
  ])('is made for %s: %s', (given, word) => {
    expect(suggested(given, word)).toBe(`(Did you mean ${word}?)`);
  });

  it.each([
    ['foo', 'get'],
    ['stat', 'get'],
    ['status', 'listen'],
    ['delete', 'delivery'],
    ['message', 'usage'],
    ['de', 'delivery'],
    ['--quiet', '--wait'],
  ])('is not made for %s: %s', (given, word) => {
    expect(suggested(given, word)).toBeUndefined();
  });

  it('names those of several that are near', () => {
    expect(suggested('kes', 'keys', 'get')).toBe('(Did you mean keys?)');
    expect(suggested('lst', 'list', 'last')).toBe('(Did you mean list or last?)');
  });

  it('leaves other sentences as they are', () => {
    expect(withNearSuggestions("error: option '--limit <n>' argument missing\n")).toMatch(/argument missing\n$/);
  });
});
