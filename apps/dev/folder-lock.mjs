/** A lock between processes that prepare the same folder. Plain JavaScript without packages: nothing is there yet. */
import { readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Runs some work while no other process does with the same file. The lock of a process that was killed is taken over. */
export async function exclusively(file, work) {
  if (!(await lock(file))) console.log('Waiting for another process that prepares the same folder …');
  while (!(await lock(file))) await sleep(200);
  try {
    await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** The lock is a symbolic link to the holder, see identityOf: created with its content in one step. */
async function lock(file) {
  const own = identityOf(process.pid);
  const holder = holderOf(file);
  if (holder === own) return true;
  const stale = holder !== null && identityOf(Number.parseInt(holder, 10)) !== holder;
  if (stale) rmSync(file, { force: true });
  try {
    symlinkSync(own, file);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  // Of several processes that found it stale, one may have removed the lock that another had just created.
  if (stale) await sleep(100);
  return holderOf(file) === own;
}

function holderOf(file) {
  try {
    return readlinkSync(file);
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * The id of a process and, on Linux, when it was started: after the restart of a container, another process may have the
 * same id. Null for one that has ended, also for a zombie: a container may have no process that waits for it.
 */
function identityOf(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return null;
  }
  const [state, ...others] = statusOf(pid);
  return /^[ZX]/.test(state) ? null : `${pid} ${others[18] ?? ''}`.trim();
}

/** The fields of /proc/<pid>/stat after the name of the program, which may have spaces; none where there is no such file. */
function statusOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ');
  } catch {
    return [''];
  }
}
