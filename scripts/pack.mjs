/**
 * Builds the packages for other machines, and packs each as a tarball. Takes the folder to do so in, by default
 * dist/packages, whose content is replaced, and the names of the packages, by default all. Prints the tarballs.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PACKAGES = ['client', 'cli'];
const [output = fileURLToPath(new URL('../dist/packages', import.meta.url)), ...named] = process.argv.slice(2);

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
for (const name of named.length === 0 ? PACKAGES : named) {
  const script = fileURLToPath(new URL(`build-${name}.mjs`, import.meta.url));
  execFileSync(process.execPath, [script, `${output}/${name}`], { stdio: 'inherit' });
  const args = ['pack', `${output}/${name}`, '--pack-destination', output, '--silent', '--ignore-scripts'];
  console.log(`${output}/${execFileSync('npm', args, { encoding: 'utf8' }).trim()}`);
}
