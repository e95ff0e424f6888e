import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../support/exit-codes.js';

/** Keeps other processes from the same run until this one ends. That of a process which was killed is taken over. */
export function lock(path: string): void {
  const file = `${path}.lock`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  while (!create(file)) takeOver(file);
  process.once('exit', () => {
    rmSync(file, { force: true });
  });
}

/** @throws CliError if its process is alive */
function takeOver(file: string): void {
  const taken = `${file}.${process.pid}`;
  try {
    const pid = pidIn(file);
    if (isAlive(pid)) {
      throw new CliError(`Process ${pid} is sending these lines. If that is something else, remove ${file}.`);
    }
    renameSync(file, taken);
    // A process that was faster may have taken it over since it was read.
    if (pidIn(taken) === pid) rmSync(taken);
    else renameSync(taken, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function pidIn(file: string): number {
  return Number(readFileSync(file, 'utf8'));
}

function create(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
