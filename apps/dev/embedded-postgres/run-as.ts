import { execFile, type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.js';
import { UsageError } from '#platform/process/usage-error.js';

const run = promisify(execFile);

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** How PostgreSQL's programs, which refuse to run as root, are started. */
export interface RunAs {
  /** The user that must own the data, if it is not the current one. */
  readonly user?: User;
  /** A command that changes the user; without it, spawn does. */
  readonly prefix: readonly string[];
}

const dacOverride = { bit: 1n, name: 'dac_override' };
const dacReadSearch = { bit: 2n, name: 'dac_read_search' };

export async function chooseRunAs(dataDir: string, binaries: Binaries): Promise<RunAs> {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const user = (await ownerOf(dataDir)) ?? (await userNamed('postgres')) ?? (await userNamed('nobody'));
  if (!user) {
    throw new UsageError(
      'PostgreSQL refuses to run as root and there is no user postgres or nobody to run it as: start as a normal user.',
    );
  }
  const mayExecute = await allows(user, binaries.postgres, 0o5);
  if (mayExecute && (await reaches(user, binaries.postgres)) && (await reaches(user, dataDir))) {
    return { user, prefix: [] };
  }
  return { user, prefix: await setpriv(user, mayExecute, dataDir) };
}

export function spawnAs(runAs: RunAs, file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const [command = file, ...rest] = [...runAs.prefix, file, ...args];
  const { user } = runAs;
  // spawn takes signed ids; macOS knows nobody as 4294967294.
  const ids = user && runAs.prefix.length === 0 ? { uid: user.uid | 0, gid: user.gid | 0 } : {};
  // The caller's PGDATA, PGOPTIONS or LC_ALL must not affect this server.
  return spawn(command, rest, { cwd: '/', env: { PATH: process.env.PATH }, ...options, ...ids });
}

/**
 * The clone may be in a folder that only root can enter, such as /root or one made by mktemp -d. The user then gets one
 * capability to pass through it; access(2) ignores it without no_setuid_fixup.
 */
async function setpriv({ uid, gid }: User, mayExecute: boolean, dataDir: string): Promise<readonly string[]> {
  const capability = await usableCapability(mayExecute ? [dacReadSearch, dacOverride] : [dacOverride]);
  const prefix = [
    ...['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--securebits=+no_setuid_fixup'],
    ...[`--inh-caps=-all,+${String(capability)}`, `--ambient-caps=-all,+${String(capability)}`, '--'],
  ];
  const works =
    capability !== undefined &&
    (await run('setpriv', [...prefix.slice(1), 'true']).then(
      () => true,
      () => false,
    ));
  if (works) return prefix;
  throw new UsageError(
    `PostgreSQL refuses to run as root, and the user it would run as (uid ${uid}) cannot reach this folder or ${dataDir}: ` +
      'start as a normal user, or put the clone and DATA_DIR into folders that everybody may enter.',
  );
}

async function usableCapability(wanted: (typeof dacOverride)[]): Promise<string | undefined> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0'}`);
  return wanted.find(({ bit }) => (effective >> bit) & 1n)?.name;
}

async function ownerOf(path: string): Promise<User | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && found.uid !== 0 ? found : undefined;
}

async function userNamed(name: string): Promise<User | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

async function reaches(user: User, path: string): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!(await allows(user, folder, 0o1))) return false;
    if (folder === dirname(folder)) return true;
  }
}

async function allows(user: User, path: string, bits: number): Promise<boolean> {
  const { mode, uid, gid } = await stat(path);
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
  return ((mode >> shift) & bits) === bits;
}
