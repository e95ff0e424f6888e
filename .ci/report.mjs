/**
 * `report.mjs <folder> <skipped> <check>...`: prints the counts of all results that Jest wrote to a folder with
 * `--json --outputFile`, and of other checks, such as 'Lint: passed'; exits with 1 if anything failed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, skipped, ...checks] = process.argv.slice(2);
process.exitCode = total(folder, Number(skipped), checks) ? 0 : 1;

/** @returns whether tests ran and none failed */
function total(folder, skippedVersions, checks) {
  const sum = { passed: 0, failed: 0, skipped: skippedVersions };
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
  for (const check of checks) {
    console.log(check);
    sum[check.split(': ').at(-1)]++;
  }
  if (sum.skipped > 0) console.log(`${sum.skipped} skipped, for the reasons above.`);
  console.log(`${sum.passed} passed, ${sum.failed} failed`);
  return ran && sum.failed === 0;
}

function countsOf(version, folder) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const result of resultsOf(join(folder, `${version}.json`))) {
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

/** Of each test file, its result; none if the run has not come to its end. */
function resultsOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).testResults;
  } catch (error) {
    console.error(`There is no result: ${error.message}`);
    return [];
  }
}
