import { outputOf } from './tools.js';

it.each([
  ['oxlint, which also checks the types', ['node_modules/oxlint/bin/oxlint']],
  ['oxfmt', ['node_modules/oxfmt/bin/oxfmt', '--list-different']],
])(
  'The whole repository passes %s',
  async (_name, [program = '', ...args]) => {
    expect(await outputOf(program, args)).toBe('');
  },
  300_000,
);
