import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.js';
import { UsageError } from '#platform/process/usage-error.js';
import { isAlive } from './postmaster.js';
import { type RunAs, spawnAs } from './run-as.js';

const PASSWORD_FILE = 'sluice.password';

/**
 * Creates the data directory if needed: under another name, renamed when it is complete with its password, so that
 * neither a crash nor a second start at the same time leaves an incomplete one.
 */
export async function ensureCluster(dataDir: string, binaries: Binaries, runAs: RunAs, sync: boolean): Promise<void> {
  if (!(await isCluster(dataDir))) {
    const unfinished = `${dataDir}.new-${process.pid}`;
    try {
      await removeUnfinished(dataDir);
      await mkdir(unfinished, { mode: 0o700 });
      await initialise(unfinished, binaries, runAs, sync);
      await rename(unfinished, dataDir).catch(async (error: unknown) => {
        if (!(await isCluster(dataDir))) throw error;
      });
    } catch (error) {
      throw explained(error, dataDir);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }
  await giveTo(runAs, dataDir);
}

export async function readPassword(dataDir: string): Promise<string> {
  return readFile(join(dataDir, PASSWORD_FILE), 'utf8').catch((error: unknown) => {
    throw explained(error, dataDir);
  });
}

async function isCluster(dataDir: string): Promise<boolean> {
  const entries = await readdir(dataDir).catch((error: unknown): string[] => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw explained(error, dataDir);
  });
  if (entries.length > 0 && !entries.includes('PG_VERSION')) {
    throw new UsageError(`${dataDir} is not a PostgreSQL data directory and not empty: empty it or set DATA_DIR.`);
  }
  return entries.length > 0;
}

async function initialise(dataDir: string, binaries: Binaries, runAs: RunAs, sync: boolean): Promise<void> {
  const password = randomBytes(24).toString('hex');
  const pwfile = `${dataDir}.pw`;
  await writeFile(pwfile, password, { mode: 0o600 });
  try {
    await giveTo(runAs, dataDir);
    if (runAs.user) await chown(pwfile, runAs.user.uid, runAs.user.gid);
    await runInitdb(binaries, runAs, [
      ...['-D', dataDir, '--username=sluice', `--pwfile=${pwfile}`, '--auth=scram-sha-256'],
      // Sorts by code point on every machine.
      ...['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
      ...['--no-instructions', sync ? '--sync-method=fsync' : '--no-sync'],
    ]);
    await rename(pwfile, join(dataDir, PASSWORD_FILE));
  } finally {
    await rm(pwfile, { force: true });
  }
}

async function runInitdb(binaries: Binaries, runAs: RunAs, args: string[]): Promise<void> {
  const initdb = spawnAs(runAs, binaries.initdb, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  initdb.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  initdb.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    initdb.once('error', reject).once('close', resolve);
  }).catch((error: unknown) => {
    throw new UsageError(
      `The PostgreSQL in ${binaries.root} cannot be run here (${String(error)}): set DATABASE_URL to one of your own.`,
    );
  });
  if (code === 0) return;
  // What follows the first error are its consequences.
  const reason = /(?:^initdb: error|FATAL|PANIC): +(.*)$/m.exec(output)?.[1] ?? output.trim().split('\n').at(-1) ?? '';
  throw new UsageError(`PostgreSQL's data directory could not be created: ${reason || 'initdb was stopped'}.`);
}

async function removeUnfinished(dataDir: string): Promise<void> {
  const prefix = `${basename(dataDir)}.new-`;
  for (const name of await readdir(dirname(dataDir))) {
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (!name.startsWith(prefix) || (pid !== process.pid && isAlive(pid))) continue;
    // A killed process may have left an initdb behind, which still writes there.
    await rm(join(dirname(dataDir), name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** PostgreSQL must own its data, which root may have copied. */
async function giveTo({ user }: RunAs, dataDir: string): Promise<void> {
  if (!user || (await stat(dataDir)).uid === user.uid) return;
  await promisify(execFile)('chown', ['-R', `${user.uid}:${user.gid}`, dataDir]);
  await chmod(dataDir, 0o700);
}

function explained(error: unknown, dataDir: string): Error {
  if (error instanceof UsageError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new UsageError(`PostgreSQL's data in ${dataDir} cannot be used: ${code ?? message}.`);
}
