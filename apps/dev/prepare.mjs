/** Installs the packages and builds the sources when needed. Plain JavaScript without packages: nothing is there yet. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exclusively } from './folder-lock.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const BUNDLE = join(root, 'scripts', 'bundle.mjs');
/** The programs, and the portal, whose sources Vite builds. Each is built if its stamp does not match its sources. */
const BUILDS = [
  {
    stampFile: join(root, 'dist', '.stamp'),
    output: join(root, 'dist', 'apps', 'api', 'main.js'),
    // Without type checks, which `npm run lint` and `npm run build` do: they would take half of the time.
    commands: [[bin('@nestjs/cli/bin/nest.js'), 'build', '--path', 'tsconfig.unchecked.json'], [BUNDLE]],
    stamp: () => stampOf(programSources()),
  },
  {
    stampFile: join(root, 'dist', '.portal-stamp'),
    output: join(root, 'dist', 'portal', 'index.html'),
    commands: [[bin('vite/bin/vite.js'), 'build', 'apps/portal', '--logLevel', 'warn']],
    stamp: () => stampOf(portalSources()),
  },
];
const PORTAL = join('apps', 'portal');

/** Installs and builds if needed. If that fails, prints why and exits. From now on the process ends with its npm. */
export async function prepare() {
  endWithNpm();
  try {
    await installAndBuild();
  } catch (error) {
    console.error(error instanceof PreparationError ? error.message : error);
    process.exit(1);
  }
}

/**
 * Stops this process when npm is killed, which cannot forward SIGKILL. The scripts in package.json begin with `exec`:
 * a shell between npm and this process would not forward the other signals.
 */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
}

async function installAndBuild() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new PreparationError(`Sluice needs Node.js 20.19 or newer; this is ${process.versions.node}.`);
  }
  if (isInstalled() && isBuilt()) return;
  // Two commands at once, such as a start and a test, must not install or build over each other.
  mkdirSync(join(root, 'dist'), { recursive: true });
  await exclusively(join(root, 'dist', '.lock'), async () => {
    if (!isInstalled()) await install();
    if (!isBuilt()) await build();
  });
}

class PreparationError extends Error {}

async function install() {
  console.log('Installing packages (once, about 20 s) …');
  const npm = process.env.npm_execpath ?? '';
  const [command, ...first] = npm.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm'];
  // The build and the database need these regardless of NODE_ENV.
  const included = ['--include=dev', '--include=optional'];
  // No package needs its install scripts.
  const options = [...included, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  if ((await run(command, [...first, 'ci', ...options])) !== 0) {
    throw new PreparationError('The packages could not be installed: npm ci failed, see above.');
  }
}

async function build() {
  console.log('Building (only after a change, about 6 s) …');
  await Promise.all(BUILDS.filter((one) => !isUpToDate(one)).map(buildOne));
}

async function buildOne({ stampFile, commands, stamp }) {
  const built = stamp();
  rmSync(stampFile, { force: true });
  for (const command of commands) {
    if ((await run(process.execPath, command)) !== 0) {
      throw new PreparationError(`The sources could not be built: ${relative(root, command[0])} failed, see above.`);
    }
  }
  writeFileSync(stampFile, built);
}

/** The path of a script of a package. */
export function bin(script) {
  return join(root, 'node_modules', script);
}

function isInstalled() {
  const wanted = packagesOf('package-lock.json');
  const present = packagesOf(join('node_modules', '.package-lock.json'));
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    const found = present[path];
    return path === '' || (found ? found.version === version : optional);
  });
}

function packagesOf(lock) {
  const text = readIfThere(join(root, lock));
  return text ? JSON.parse(text).packages : {};
}

function isBuilt() {
  return BUILDS.every(isUpToDate);
}

function isUpToDate({ stampFile, output, stamp }) {
  if (readIfThere(stampFile) !== stamp()) return false;
  // `nest build` and `nest start --watch` write into dist/ without a stamp.
  const built = statSync(output, { throwIfNoEntry: false });
  return built !== undefined && built.mtimeMs <= statSync(stampFile).mtimeMs;
}

function programSources() {
  const sources = filesIn('apps', 'libs').filter(
    (name) => /\.(ts|sql|css|js|svg)$/.test(name) && !name.endsWith('.spec.ts') && !name.startsWith(PORTAL),
  );
  return [
    ...sources,
    relative(root, BUNDLE),
    'package.json',
    'nest-cli.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'tsconfig.unchecked.json',
  ];
}

function portalSources() {
  return filesIn(PORTAL, join('libs', 'client')).filter((name) => extname(name) !== '');
}

function filesIn(...folders) {
  return folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)))
    .sort();
}

function stampOf(files) {
  const hash = createHash('sha256').update(readIfThere(join(root, 'node_modules', '.package-lock.json')));
  for (const name of files) hash.update(`${name}\n`).update(readFileSync(join(root, name)));
  return hash.digest('hex');
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

/** Runs jest with the repository's configuration; its exit code becomes the exit code of this process. */
export async function runJest(...args) {
  process.exitCode = await run(process.execPath, [bin('jest/bin/jest.js'), '--config', 'jest.config.mjs', ...args]);
}

/** Resolves with the exit code. A signal that ends this process ends the command, too. */
async function run(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  let ending;
  const end = (signal) => child.kill((ending = signal));
  for (const signal of signals) process.on(signal, end);
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  for (const signal of signals) process.off(signal, end);
  if (ending) process.exit(1);
  return code ?? 1;
}
