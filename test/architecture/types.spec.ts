import { outputOf } from './tools.js';

// The portal runs in browsers, with their types instead of those of Node.js.
it.each(['tsconfig.json', 'apps/portal/tsconfig.json'])(
  'What %s includes has no type errors',
  async (project) => {
    expect(await outputOf('node_modules/typescript/bin/tsc', ['--noEmit', '--project', project])).toBe('');
  },
  300_000,
);
