import { outputOf } from './tools.js';

it.each([
  ['eslint', ['node_modules/eslint/bin/eslint.js', '.']],
  ['prettier', ['node_modules/prettier/bin/prettier.cjs', '--check', '.']],
])(
  'The whole repository passes %s',
  async (_name, [program = '', ...args]) => {
    expect(await outputOf(program, args)).toBe('');
  },
  300_000,
);
