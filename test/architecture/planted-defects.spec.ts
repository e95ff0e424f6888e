import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../support/processes.js';

const run = promisify(execFile);

/** In a process of its own: Jest would have to compile the module. */
async function problemIn(check: 'problemOf' | 'problemOfAll', ...args: unknown[]): Promise<unknown> {
  const script = `import { ${check} } from './test/planted/lists.mjs';
    console.log(JSON.stringify(${check}(...${JSON.stringify(args)})));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
  return JSON.parse(stdout);
}

describe('The planted defects', () => {
  it('can be planted, and npm test notices at least 95 of 100', async () => {
    await expect(run(process.execPath, [join(ROOT, 'test/planted/run.mjs'), '--check'])).resolves.toMatchObject({
      stderr: '',
    });
  });

  const defect = {
    ...{ file: 'test/run.mjs', find: 'await prepare();', replace: '' },
    tests: ['test/architecture/errors.spec.ts'],
  };

  it.each([
    ['one of a file that is gone', { file: 'libs/gone.ts' }, 'libs/gone.ts does not exist'],
    ['one of code that is gone', { find: 'prepare(gone)' }, 'test/run.mjs has what is replaced 0 times'],
    ['one of code that is not unique', { find: 'LONG' }, 'test/run.mjs has what is replaced 2 times'],
    ['one that changes nothing', { replace: defect.find }, 'nothing is changed'],
    ['one without tests', { tests: [] }, 'no tests are named'],
    ['one of tests that are gone', { tests: ['test/gone.spec.ts'] }, 'test/gone.spec.ts does not exist'],
    ['none that is right', {}, null],
  ])('are checked: it finds %s', async (_what, change, problem) => {
    await expect(problemIn('problemOf', { ...defect, ...change }, '.')).resolves.toBe(problem);
  });

  it.each([
    ['more than 5 of 100', 6, 'npm test notices 94 of 100 defects'],
    ['5 of 100', 5, null],
  ])('are checked: %s may not be noticed by long tests alone', async (_what, count, problem) => {
    const tests = (index: number) => [
      'test/bench/smoke.spec.ts',
      ...(index < count ? [] : ['test/architecture/errors.spec.ts']),
    ];
    const defects = Array.from({ length: 100 }, (_, index) => ({ ...defect, tests: tests(index) }));
    await expect(problemIn('problemOfAll', defects)).resolves.toBe(problem);
  });
});
