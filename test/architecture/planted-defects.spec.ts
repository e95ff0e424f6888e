import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../support/processes.js';

const run = promisify(execFile);

describe('The planted defects', () => {
  it('can be planted, and name tests that npm test runs', async () => {
    await expect(run(process.execPath, [join(ROOT, 'test/planted/run.mjs'), '--check'])).resolves.toMatchObject({
      stderr: '',
    });
  });

  const defect = {
    ...{ file: 'test/run.mjs', find: 'await prepare();', replace: '' },
    tests: ['test/architecture/style.spec.ts'],
  };

  it.each([
    ['one of a file that is gone', { file: 'libs/gone.ts' }, 'libs/gone.ts does not exist'],
    ['one of code that is gone', { find: 'prepare(gone)' }, 'test/run.mjs has what is replaced 0 times'],
    ['one of code that is not unique', { find: 'LONG' }, 'test/run.mjs has what is replaced 2 times'],
    ['one that changes nothing', { replace: defect.find }, 'nothing is changed'],
    ['one without tests', { tests: [] }, 'no tests are named'],
    ['one of tests that are gone', { tests: ['test/gone.spec.ts'] }, 'test/gone.spec.ts does not exist'],
    ['one of long tests', { tests: ['test/bench/smoke.spec.ts'] }, 'npm test does not run test/bench/smoke.spec.ts'],
    ['none that is right', {}, null],
  ])('are checked: it finds %s', async (_what, change, problem) => {
    // In a process of its own: Jest would have to compile the module.
    const script = `import { problemOf } from './test/planted/lists.mjs';
      console.log(JSON.stringify(problemOf(${JSON.stringify({ ...defect, ...change })}, '.')));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
    expect(JSON.parse(stdout)).toBe(problem);
  });
});
