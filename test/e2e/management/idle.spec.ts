import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../../support/processes.js';

it.each([
  ['with nobody connected', []],
  ['with an open stream and a waiting lease', ['--clients']],
])('An installation that is idle, %s, executes few statements', async (_what, options) => {
  const args = ['scripts/idle.mjs', '--settle', '20', '--seconds', '30', ...options];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  const [, found = ''] = /^Statements a second: ([\d.]+)$/m.exec(stdout) ?? [];
  process.stdout.write(`${stdout}\n`);
  // About 1 and 2 are usual. What is repeated each second by both processes alone would be more.
  expect(Number(found)).toBeGreaterThan(0);
  expect(Number(found)).toBeLessThan(4);
});
