import { execFile } from 'node:child_process';
import { readFile, readlink, rm } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly isReady: boolean;
}

/** The server that runs on this data directory, by its postmaster.pid and the process table. */
export async function findPostmaster(dataDir: string): Promise<Postmaster | undefined> {
  const lines = (await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  // A starting server has not written its port yet.
  const postmaster = { pid: Number(lines[0]), port: Number(lines[3] ?? 0), isReady: lines[7]?.trim() === 'ready' };
  return (await isPostmasterOf(postmaster.pid, dataDir)) ? postmaster : undefined;
}

/**
 * PostgreSQL replaces the file of a dead server, but not if its process id was reused by another process or belongs to
 * a zombie.
 */
export async function removeStalePidFile(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postmaster.pid');
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
  if (isAlive(pid) && !(await isPostmasterOf(pid, dataDir))) await rm(file, { force: true });
}

export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isPostmasterOf(pid: number, dataDir: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const command = `${await commandOf(pid)} `;
  if (command.includes(`postgres -D ${dataDir} `)) return true;
  // The folder may have been renamed while the server ran.
  return command.includes('postgres -D ') && (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === dataDir;
}

/** Empty for a zombie. */
async function commandOf(pid: number): Promise<string> {
  if (platform() === 'linux') {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ');
  }
  const args = ['-ww', '-o', 'args=', '-p', String(pid)];
  return promisify(execFile)('ps', args).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
}
