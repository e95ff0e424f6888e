import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { promisify } from 'node:util';

const interval = 500;

/** When npm is killed it cannot tell us, and nobody else would ever stop what it has started. */
export async function whenNpmIsGone(callback: () => void): Promise<void> {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = await findNpm();
  if (npm === undefined) return;
  const timer = setInterval(() => {
    void isOurAncestor(npm).then((stillThere) => {
      if (stillThere) return;
      clearInterval(timer);
      callback();
    });
  }, interval).unref();
}

/** Our parent or, as npm runs scripts by way of a shell, the parent of that. */
async function findNpm(): Promise<number | undefined> {
  for (const pid of [process.ppid, await parentOf(process.ppid)]) {
    if (/\bnpm\b/.test(await commandOf(pid))) return pid;
  }
  return undefined;
}

async function isOurAncestor(pid: number): Promise<boolean> {
  return process.ppid === pid || (await parentOf(process.ppid)) === pid;
}

async function parentOf(pid: number): Promise<number> {
  if (platform() !== 'linux') return Number(await ps('ppid', pid));
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name in parentheses may itself hold spaces and parentheses.
  return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]);
}

async function commandOf(pid: number): Promise<string> {
  if (platform() !== 'linux') return ps('args', pid);
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}

async function ps(column: string, pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', `${column}=`, '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.trim();
}
