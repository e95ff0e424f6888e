/**
 * Asks the registry whether a package of the lock file has a known vulnerability of level high or critical: exit code 1
 * then. A registry that can't say so (a mirror, say) fails nothing, but its reason is printed.
 */
import { spawnSync } from 'node:child_process';

const { stdout } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], { encoding: 'utf8' });
const answer = parse(stdout);
const counts = answer.metadata?.vulnerabilities;
if (counts === undefined) {
  console.log(`Not checked, the registry gave no answer: ${answer.message ?? answer.error?.summary ?? 'npm failed'}`);
} else {
  const grave = Object.entries(answer.vulnerabilities).filter(([, { severity }]) => /^(high|critical)$/.test(severity));
  for (const [name, { severity, range }] of grave) console.log(`${name} ${range}: ${severity}`);
  console.log(`${grave.length} of ${counts.total} known vulnerabilities are high or critical.`);
  process.exitCode = grave.length === 0 ? 0 : 1;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
