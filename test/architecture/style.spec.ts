import { outputOf } from './tools.js';

it('The whole repository has no type errors and passes eslint', async () => {
  expect(await outputOf('test/architecture/types-and-lint.mjs', [])).toBe('');
}, 300_000);
