import { outputOf } from './tools.js';

const CACHE = 'node_modules/.cache/sluice/prettier';

describe('The whole repository', () => {
  it.each([
    ['has no type errors and passes eslint', 'test/architecture/types-and-lint.mjs', []],
    [
      'is formatted by prettier',
      'node_modules/prettier/bin/prettier.cjs',
      ['--check', '.', '--cache', '--cache-strategy', 'content', '--cache-location', CACHE],
    ],
  ])(
    '%s',
    async (_what, script, args) => {
      expect(await outputOf(script, args)).toBe('');
    },
    180_000,
  );
});
