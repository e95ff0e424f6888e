import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCall, SCENARIOS } from '../../bench/options.js';
import type { Report } from '../../bench/report/report.js';
import { Program } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';

// Less than half of it is enough beside two other test workers on two slow cores.
const DEADLINE = 900_000;

const missing = process.platform === 'linux' ? null : 'the benchmark runs on Linux only.';

describeUnless(missing)('The benchmark', () => {
  let folder: string;
  let ended: { readonly code: unknown; readonly output: string };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-bench-results-'));
    const bench = Program.run('bench/run.mjs', {}, process.execPath, ['--smoke', '--out', folder]);
    ended = { code: await bench.ended(DEADLINE), output: bench.output };
  }, DEADLINE);

  afterAll(() => rm(folder, { recursive: true }));

  it('finds that all counts agree', () => {
    // On failure, show the output.
    expect(ended.code === 0 ? '' : ended.output).toBe('');
  });

  it.each(SCENARIOS)('reports every measurement: %s', async (scenario) => {
    const report = JSON.parse(await readFile(join(folder, `${scenario}.json`), 'utf8')) as Report;
    expect(report).toMatchObject({
      scenario,
      machine: { postgresql: expect.stringContaining('PostgreSQL') as string },
    });
    expect(report.checks.filter(({ holds }) => !holds)).toEqual([]);
    expect(report.checks).not.toEqual([]);
    for (const { columns, rows } of report.tables) {
      expect(rows).not.toEqual([]);
      expect(rows.filter((row) => row.length !== columns.length)).toEqual([]);
    }
    const text = await readFile(join(folder, `${scenario}.md`), 'utf8');
    expect(text).toContain('checks of accepted against stored messages agree');
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });
});

it('The benchmark rejects an unknown scenario', () => {
  expect(() => readCall(['acept'])).toThrow(/^Unknown scenario "acept"\. Scenarios: accept, .+\.$/);
});
