import { complaints } from './tools.js';

const DEADLINE = 180_000;

describe('The whole repository', () => {
  it(
    'has the types that it says',
    async () => {
      expect(await complaints('typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json')).toBe('');
    },
    DEADLINE,
  );

  it(
    'passes eslint',
    async () => {
      expect(await complaints('eslint/bin/eslint.js', '.')).toBe('');
    },
    DEADLINE,
  );

  it(
    'is formatted by prettier',
    async () => {
      expect(await complaints('prettier/bin/prettier.cjs', '--check', '.')).toBe('');
    },
    DEADLINE,
  );
});
