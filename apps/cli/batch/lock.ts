import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../support/exit-codes.js';

/** Keeps other processes from the same run until this one ends. That of a process which was killed is taken over. */
export function lock(path: string): void {
  const file = `${path}.lock`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  while (!create(file)) {
    const pid = Number(readFileSync(file, 'utf8'));
    if (isAlive(pid)) {
      throw new CliError(`Process ${pid} is sending these lines. If that is something else, remove ${file}.`);
    }
    rmSync(file);
  }
  process.once('exit', () => {
    rmSync(file, { force: true });
  });
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
