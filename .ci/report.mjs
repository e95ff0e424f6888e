/**
 * Reads what Jest wrote with `--json --outputFile`.
 *   report.mjs failed <file>      prints the test files that failed, a line each
 *   report.mjs total <folder> …   prints the counts of all results in a folder; exits with 1 if anything failed
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const [command, path, ...rest] = process.argv.slice(2);
if (command === 'failed') {
  for (const { name } of resultsOf(path).filter(({ status }) => status === 'failed')) console.log(nameOf(name));
} else {
  process.exitCode = total(path, Number(rest[0]), rest[1]) ? 0 : 1;
}

/** @returns whether tests ran and none failed */
function total(folder, skippedVersions, audit) {
  const sum = { passed: 0, failed: 0, skipped: skippedVersions };
  console.log(`Packages: ${audit}`);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.status'))) {
    const version = file.replace('.status', '');
    const { passed, failed, skipped } = countsOf(version, folder);
    console.log(`Node.js ${version}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
    sum.passed += passed;
    sum.failed += failed;
    sum.skipped += skipped;
  }
  const ran = sum.passed > 0;
  if (!ran) console.log('No test passed.');
  sum[audit]++;
  if (sum.skipped > 0) console.log(`${sum.skipped} skipped, for the reasons above.`);
  console.log(`${sum.passed} passed, ${sum.failed} failed`);
  return ran && sum.failed === 0;
}

/** Of a file that was repeated, the second result counts; what passed only then is listed. */
function countsOf(version, folder) {
  const results = new Map(resultsOf(join(folder, `${version}.json`)).map((result) => [result.name, result]));
  const repeated = join(folder, `${version}.repeated.json`);
  for (const result of existsSync(repeated) ? resultsOf(repeated) : []) {
    for (const test of failedIn(results.get(result.name))) {
      const isFlaky = result.status === 'passed';
      console.log(`Node.js ${version}: ${isFlaky ? 'flaky' : 'failed twice'}: ${nameOf(result.name)}: ${test}`);
    }
    results.set(result.name, result);
  }
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const result of results.values()) {
    const statuses = result.assertionResults.map(({ status }) => status);
    const failed = statuses.filter((status) => status === 'failed').length;
    counts.passed += statuses.filter((status) => status === 'passed').length;
    // A file can fail without a failed test, for example when it can't be loaded.
    counts.failed += result.status === 'failed' ? Math.max(1, failed) : 0;
    counts.skipped += statuses.filter((status) => status === 'pending' || status === 'todo').length;
  }
  // So can a run, for example in its teardown or when it found no test.
  const status = readFileSync(join(folder, `${version}.status`), 'utf8').trim();
  if (status !== '0' && counts.failed === 0) {
    console.log(`Node.js ${version}: exit code ${status}`);
    counts.failed++;
  }
  return counts;
}

function failedIn(result) {
  const tests = result.assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
  return tests.length > 0 ? tests : ['the whole file'];
}

/** Of each test file, its result; none if the run has not come to its end. */
function resultsOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).testResults;
  } catch (error) {
    console.error(`There is no result: ${error.message}`);
    return [];
  }
}

function nameOf(file) {
  return relative(process.cwd(), file);
}
