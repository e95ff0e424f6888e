import { join } from 'node:path';
import { outputOf } from './tools.js';

// The portal runs in browsers, with their types instead of those of Node.js.
it.each(['tsconfig.json', 'apps/portal/tsconfig.json'])(
  'What %s includes has no type errors',
  async (project) => {
    const known = join('node_modules/.cache/types', `${project.replaceAll('/', '-')}.tsbuildinfo`);
    const args = ['--noEmit', '--incremental', '--tsBuildInfoFile', known, '--project', project];
    expect(await outputOf('node_modules/typescript/bin/tsc', args)).toBe('');
  },
  300_000,
);
