import { execFileSync } from 'node:child_process';
import { connectionsWithin, openFilesLimit } from './open-files.js';

it.each([
  ['all that it may have', 10_000, Infinity, 10_000],
  ['all, with a few hundred files more', 10_000, 10_240, 10_000],
  ['what the others leave', 10_000, 1_024, 824],
  ['half of few', 10_000, 128, 64],
  ['no more than it may have', 50, 1_024, 50],
])('A process can have %s', (_what, max, files, expected) => {
  expect(connectionsWithin(max, files)).toBe(expected);
});

it('The limit of open files is that of the shell', () => {
  const limit = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
  expect(String(openFilesLimit())).toBe(limit === 'unlimited' ? 'Infinity' : limit);
});
