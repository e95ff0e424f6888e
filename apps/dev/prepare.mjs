/** What must be done before anything of this folder can run: the packages and the build. Plain JavaScript, no package. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const stampFile = join(root, 'dist', '.stamp');
const lockFile = join(root, 'dist', '.lock');

/** Prints what keeps a command from running, and ends the process. */
export function giveUp(error) {
  console.error(error instanceof PreparationError ? error.message : error);
  process.exit(1);
}

/**
 * Ends this process in its ordinary way when npm is killed, which could not pass that on. The scripts in package.json
 * begin with `exec`, so that npm is our parent and not a shell that would swallow what npm does pass on.
 */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
}

/** Installs, builds, or does nothing, whichever is needed. */
export async function prepare() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new PreparationError(`Sluice needs Node.js 20.19 or newer; this is ${process.versions.node}.`);
  }
  if (isInstalled() && isBuilt()) return;
  await exclusively(async () => {
    if (!isInstalled()) await install();
    if (!isBuilt()) await build();
  });
}

class PreparationError extends Error {}

async function install() {
  console.log('Installing packages (once, about 20 s) …');
  const npm = process.env.npm_execpath ?? '';
  const [command, ...first] = npm.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm'];
  // Whatever the environment leaves out (NODE_ENV=production), the build and the database are among these.
  const included = ['--include=dev', '--include=optional'];
  // No package needs its install scripts, and some would call home.
  const options = [...included, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  if ((await run(command, [...first, 'ci', ...options])) !== 0) {
    throw new PreparationError('The packages could not be installed: npm ci failed, see above.');
  }
}

async function build() {
  console.log('Building (only after a change, about 6 s) …');
  const stamp = stampOfSources();
  rmSync(stampFile, { force: true });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  if ((await run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--noEmitOnError'])) !== 0) {
    throw new PreparationError('The sources could not be built: tsc failed, see above.');
  }
  writeFileSync(stampFile, stamp);
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
  return readIfThere(stampFile) === stampOfSources();
}

function stampOfSources() {
  const hash = createHash('sha256').update(readIfThere(join(root, 'node_modules', '.package-lock.json')));
  const files = ['apps', 'libs', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  );
  const sources = files.filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts')).sort();
  for (const name of [...sources, 'package.json', 'tsconfig.json', 'tsconfig.build.json']) {
    hash.update(`${name}\n`).update(readFileSync(join(root, name)));
  }
  return hash.digest('hex');
}

/** Two commands at once (a start and a test, say) must not install or build over each other. */
async function exclusively(work) {
  mkdirSync(join(root, 'dist'), { recursive: true });
  let told = false;
  while (!(await lock())) {
    if (!told) console.log('Waiting for another process, which prepares the same folder …');
    told = true;
    await sleep(200);
  }
  try {
    await work();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

/** A symbolic link to the holder's process id: made and filled in one step. */
async function lock() {
  const holder = lockHolder();
  const stale = holder !== null && !isAlive(holder);
  if (stale) rmSync(lockFile, { force: true });
  try {
    symlinkSync(String(process.pid), lockFile);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  // Of several that found it stale at the same moment, one may have removed the lock that another had just made.
  if (stale) await sleep(100);
  return lockHolder() === process.pid;
}

function lockHolder() {
  try {
    return Number(readlinkSync(lockFile));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

/** Resolves with the exit code. What ends this process ends the command, too. */
export async function run(command, args) {
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
