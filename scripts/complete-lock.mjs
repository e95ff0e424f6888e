/**
 * Completes package-lock.json after it was written behind a registry that mirrors only some platforms: npm leaves out
 * the optional packages it cannot see, and `npm ci` then fails wherever they can be seen. Each gets the entry npm
 * itself would write, as far as it is known: version and platform. Addresses are left out, so that any registry serves.
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
  if (os.length !== 1 || cpu.length !== 1) throw new Error(`The platform of ${name} is not to be told from its name.`);
  return { cpu, os };
}
