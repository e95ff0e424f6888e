import { outputOf } from './tools.js';

it('The whole repository is formatted by prettier', async () => {
  expect(await outputOf('node_modules/prettier/bin/prettier.cjs', ['--check', '.'])).toBe('');
}, 300_000);
