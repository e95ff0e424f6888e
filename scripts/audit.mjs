/**
 * Exits with 1 if the registry reports a vulnerability of level high or critical for a package of the lock file. If the
 * registry does not support audits, as some mirrors, the reason is printed and the exit code is 0.
 */
import { spawnSync } from 'node:child_process';

const { stdout } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], { encoding: 'utf8' });
const report = parse(stdout);
const counts = report.metadata?.vulnerabilities;
if (counts === undefined) {
  console.log(`Not checked, the registry did not respond: ${report.message ?? report.error?.summary ?? 'npm failed'}`);
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
