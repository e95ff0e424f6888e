import { spawn } from 'node:child_process';
import { cp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const NOT_COPIED = ['.git', '.data', 'coverage', 'node_modules'];
/** Milliseconds that building, or each file of tests, may take. A run that takes longer has no result. */
const MAX_MS = 300_000;

/** A copy of the repository, in which one defect after another is planted. */
export class Copy {
  /** @param isBuilt whether each defect is built */
  constructor(folder, isBuilt, children) {
    Object.assign(this, { folder, isBuilt, children });
  }

  async runLane(lane) {
    if (lane.length === 0) return [];
    const options = { recursive: true, preserveTimestamps: true };
    await cp(ROOT, this.folder, { ...options, filter: (path) => !NOT_COPIED.includes(relative(ROOT, path)) });
    await symlink(await realpath(join(ROOT, 'node_modules')), join(this.folder, 'node_modules'), 'dir');
    const tests = [...new Set(lane.flatMap((defect) => defect.tests))];
    const before = (await this.build()) ? await this.test(tests, Math.max(1, availableParallelism() / 2)) : null;
    const failing = tests.filter((path) => before?.get(path) !== 'passed');
    for (const path of failing) console.log(`fails without a defect: ${path}`);
    const results = [];
    for (const defect of lane.filter((one) => !one.tests.some((path) => failing.includes(path)))) {
      const start = performance.now();
      const verdict = await this.tryOut(defect);
      results.push({ defect, verdict });
      const seconds = Math.round((performance.now() - start) / 1_000);
      console.log(`${verdict.padEnd(10)} ${`${seconds} s`.padStart(5)}  ${defect.area}: ${defect.what}`);
    }
    return results;
  }

  async tryOut({ file, find, replace, tests }) {
    const path = join(this.folder, file);
    const source = await readFile(path, 'utf8');
    await writeFile(path, source.split(find).join(replace));
    try {
      if (this.isBuilt && !(await this.build())) return 'NOT BUILT';
      const outcomes = await this.test(tests, 1);
      if (outcomes === 'refused SQL') return 'caught';
      if (outcomes === null) return 'NO RESULT';
      if (tests.some((test) => outcomes.get(test) === 'not loaded')) return 'NOT LOADED';
      return tests.every((test) => outcomes.get(test) === 'failed') ? 'caught' : 'NOT CAUGHT';
    } finally {
      await writeFile(path, source);
    }
  }

  async build() {
    const { code, output } = await this.run(
      MAX_MS,
      '-e',
      "import('./apps/dev/prepare.mjs').then(({ prepare }) => prepare())",
    );
    if (code !== 0) console.log(output);
    return code === 0;
  }

  /** The outcome of each test file, if there is a report. A database that was not even set up has refused SQL. */
  async test(tests, workers) {
    const report = join(this.folder, 'report.json');
    await rm(report, { force: true });
    const options = ['--json', `--outputFile=${report}`, '--silent', '--forceExit', '--testTimeout=60000'];
    const jest = [
      'node_modules/jest/bin/jest.js',
      '--config',
      'jest.config.mjs',
      `--maxWorkers=${workers}`,
      ...options,
    ];
    const { output } = await this.run(tests.length * MAX_MS, ...jest, '--runTestsByPath', ...tests);
    const text = await readFile(report, 'utf8').catch(() => null);
    if (text === null) return /QueryFailedError|severity: 'ERROR'/.test(output) ? 'refused SQL' : null;
    const outcomes = JSON.parse(text).testResults.map(({ name, status, assertionResults }) => {
      const hasFailed = assertionResults.some((one) => one.status === 'failed');
      return [relative(this.folder, name), status === 'passed' ? status : hasFailed ? 'failed' : 'not loaded'];
    });
    return new Map(outcomes);
  }

  /** Runs Node.js in the copy to its end. */
  async run(maxMs, ...args) {
    const child = spawn(process.execPath, args, { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] });
    this.children.add(child);
    const timer = setTimeout(() => child.kill('SIGKILL'), maxMs);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (output = (output + text).slice(-20_000)));
    }
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    clearTimeout(timer);
    this.children.delete(child);
    return { code, output };
  }
}
