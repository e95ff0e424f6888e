/**
 * Plants each defect of the lists (see lists.mjs) in a copy of the repository, and checks that its tests notice it:
 * `npm run test:planted -- webhooks lease`. Arguments are names of areas or words of descriptions. `--check` only checks
 * that the defects can be planted.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Copy } from './copy.mjs';
import { problemOf, problemOfAll, readDefects } from './lists.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
/** These load the sources. All others start what was built, so that a defect must be built. */
const LOADS_SOURCES = /^(?:apps|libs)\/|^test\/contracts\//;

const { positionals, values } = parseArgs({ allowPositionals: true, options: { check: { type: 'boolean' } } });
const defects = await readDefects(positionals);
const problems = defects.flatMap((defect) => {
  const problem = problemOf(defect, ROOT);
  return problem === null ? [] : [`${defect.area}: ${defect.what}: ${problem}`];
});
const problem = positionals.length === 0 ? problemOfAll(defects) : null;
if (problem !== null) problems.push(problem);
if (defects.length === 0) problems.push('No defect is selected.');
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
if (process.exitCode === 0 && !values.check) await runAll();

async function runAll() {
  const children = new Set();
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-defects-')));
  const end = async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(signal, () => void end().then(() => process.exit(1)));
  try {
    const isBuilt = ({ file, tests }) => file.endsWith('.sql') || !tests.every((path) => LOADS_SOURCES.test(path));
    const lanes = [defects.filter(isBuilt), defects.filter((defect) => !isBuilt(defect))];
    const copies = lanes.map((lane, index) => new Copy(join(folder, String(index)), index === 0, children));
    const results = (await Promise.all(copies.map((copy, index) => copy.runLane(lanes[index])))).flat();
    const missed = results.filter(({ verdict }) => verdict !== 'caught');
    for (const { defect, verdict } of missed) console.log(`${verdict}: ${defect.area}: ${defect.what}`);
    console.log(`${results.length - missed.length} of ${defects.length} planted defects were caught.`);
    process.exitCode = results.length === defects.length && missed.length === 0 ? 0 : 1;
  } finally {
    await end();
  }
}
