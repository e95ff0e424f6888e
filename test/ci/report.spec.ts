import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const REPORT = resolve('.ci/report.mjs');

const result = (name: string, ...statuses: string[]) => ({
  name: resolve(name),
  status: statuses.length === 0 || statuses.includes('failed') ? 'failed' : 'passed',
  assertionResults: statuses.map((status, index) => ({ status, fullName: `test ${index}` })),
});

describe('the counts of .ci/run', () => {
  let folder = '';
  const write = (name: string, ...testResults: object[]) => {
    writeFileSync(join(folder, name), JSON.stringify({ testResults }));
  };
  const exited = (code: number) => {
    writeFileSync(join(folder, '20.0.0.status'), `${code}\n`);
  };
  const report = (...args: string[]) => {
    const { status, stdout } = spawnSync(process.execPath, [REPORT, ...args], { encoding: 'utf8' });
    return { status, lines: stdout.trimEnd().split('\n') };
  };
  const total = (lint = 'passed', audit = 'passed') => {
    const { status, lines } = report(folder, '0', `Lint: ${lint}`, `Packages: ${audit}`);
    return { status, last: lines.at(-1), lines };
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-report-'));
    exited(0);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('are those of the tests, of the lint and of the audit', () => {
    write('20.0.0.json', result('a.spec.ts', 'passed', 'pending'), result('b.spec.ts', 'passed'));
    expect(total()).toMatchObject({ status: 0, last: '4 passed, 0 failed' });
    expect(total('failed')).toMatchObject({ status: 1, last: '3 passed, 1 failed' });
    expect(total('passed', 'failed')).toMatchObject({ status: 1, last: '3 passed, 1 failed' });
    expect(total('passed', 'skipped')).toMatchObject({ status: 0, last: '3 passed, 0 failed' });
  });

  it('fail with a test, a file that has none, and a run that ends with an error', () => {
    exited(1);
    write('20.0.0.json', result('a.spec.ts', 'passed', 'failed'));
    expect(total()).toMatchObject({ status: 1, last: '3 passed, 1 failed' });
    write('20.0.0.json', result('a.spec.ts', 'passed'), result('b.spec.ts'));
    expect(total()).toMatchObject({ status: 1, last: '3 passed, 1 failed' });
    write('20.0.0.json', result('a.spec.ts', 'passed'));
    expect(total()).toMatchObject({ status: 1, last: '3 passed, 1 failed' });
  });

  it('fail when nothing ran', () => {
    expect(total()).toMatchObject({ status: 1, last: '2 passed, 0 failed' });
    write('20.0.0.json', result('a.spec.ts', 'pending'));
    expect(total()).toMatchObject({ status: 1, last: '2 passed, 0 failed' });
  });
});
