import { outputOf } from './tools.js';

const CACHE = 'node_modules/.cache/sluice';

describe('The whole repository', () => {
  it.each([
    ['has no type errors', 'typescript/bin/tsc', ['--noEmit', '--incremental', '--tsBuildInfoFile', `${CACHE}/types`]],
    // Without a cache: its rules also use the types of other files.
    ['passes eslint', 'eslint/bin/eslint.js', ['.']],
    [
      'is formatted by prettier',
      'prettier/bin/prettier.cjs',
      ['--check', '.', '--cache', '--cache-strategy', 'content', '--cache-location', `${CACHE}/prettier`],
    ],
  ])(
    '%s',
    async (_what, script, args) => {
      expect(await outputOf(script, args)).toBe('');
    },
    180_000,
  );
});
