/**
 * Exits with 1 if the registry reports a vulnerability of level high or critical for a package of the lock file, and with
 * 2 if nothing was checked: some registries do not support audits.
 */
import { spawnSync } from 'node:child_process';

const { stdout } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], { encoding: 'utf8' });
const report = parse(stdout);
const counts = report.metadata?.vulnerabilities;
if (counts === undefined) {
  const reason = report.message ?? report.error?.summary ?? 'npm failed';
  console.log(`Skipped: the packages are not checked for vulnerabilities. The registry did not: ${reason}`);
  process.exitCode = 2;
} else {
  const severe = Object.entries(report.vulnerabilities).filter(([, { severity }]) =>
    /^(high|critical)$/.test(severity),
  );
  for (const [name, { severity, range }] of severe) console.log(`${name} ${range}: ${severity}`);
  console.log(`${severe.length} of ${counts.total} known vulnerabilities are high or critical.`);
  process.exitCode = severe.length === 0 ? 0 : 1;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
