/**
 * Completes package-lock.json after npm has written it with a registry that mirrors only some platforms: npm omits
 * optional packages that it cannot find, and `npm ci` fails with registries that have them. Adds the entries that npm
 * would write, with version and platform, and removes registry URLs.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const before = readFileSync(file, 'utf8');
const lock = JSON.parse(before);
const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64'];

for (const [path, entry] of Object.entries(lock.packages)) {
  delete entry.resolved;
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isLocked(path, name)) continue;
    lock.packages[`node_modules/${name}`] = { version, ...platformOf(name), dev: entry.dev, optional: true };
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
const after = `${JSON.stringify(lock, null, 2)}\n`;
if (after !== before) writeFileSync(file, after);
const unverified = Object.entries(lock.packages).filter(
  ([path, { integrity }]) => path !== '' && integrity === undefined,
);
for (const [path] of unverified) console.log(`${path} has no integrity: this registry does not have it.`);
console.log(after === before ? 'package-lock.json is complete.' : 'package-lock.json has been completed.');

function isLocked(path, name) {
  const folders = path.split('/node_modules/').map((_, i, parts) => parts.slice(0, i + 1).join('/node_modules/'));
  return [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`].some(
    (candidate) => candidate in lock.packages,
  );
}

function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = systems.filter((system) => words.includes(system));
  const cpu = processors.filter((processor) => words.includes(processor));
  if (os.length !== 1 || cpu.length !== 1) throw new Error(`The name ${name} does not contain its platform.`);
  return { cpu, os };
}
