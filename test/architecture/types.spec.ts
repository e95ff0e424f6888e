import { outputOf } from './tools.js';

it('The whole repository has no type errors', async () => {
  expect(await outputOf('node_modules/typescript/bin/tsc', ['--noEmit'])).toBe('');
}, 300_000);
