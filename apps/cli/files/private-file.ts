import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { createFolder } from '#platform/process/create-folder.js';
import { CliError, EXIT, type ExitCode } from '../support/exit-codes.js';

/**
 * A folder of this program in the user's home, as the XDG Base Directory Specification places it.
 * @returns null for a user without a home directory, as many containers have
 */
export function folder(variable: 'XDG_CONFIG_HOME' | 'XDG_STATE_HOME', fallback: string): string | null {
  const base = process.env[variable] ?? '';
  if (isAbsolute(base)) return join(base, 'sluice');
  try {
    const home = homedir();
    // An empty HOME would mean the current folder, which others may read or commit.
    return isAbsolute(home) ? join(home, fallback, 'sluice') : null;
  } catch {
    return null;
  }
}

/**
 * The text of a file of this program.
 * @returns null if there is no such file. @throws CliError if it cannot be read
 */
export function readIfAny(path: string): string | null {
  try {
    const stats = statSync(path);
    // Of a pipe or a device, the end may never come.
    if (!stats.isFile() && !stats.isDirectory())
      throw new CliError(`${path} cannot be read: it is not a regular file.`);
    if (stats.size > MAX_BYTES) throw new CliError(`${path} cannot be read: it is larger than any file of sluice.`);
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (codeOf(error) === 'ENOENT') return null;
    throw fileError(path, 'read', error);
  }
}

const MAX_BYTES = 16_777_216;

/** Whether other users may read or change a file, where the system has such permissions. */
export function isOpenToOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0;
}

/**
 * Replaces a file that only its owner may read, or the file to which a link leads. A crash leaves the old one or the
 * new one. @throws CliError if it cannot be written
 */
export function writePrivately(path: string, text: string): void {
  const file = targetOf(path);
  const temporary = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    createPrivateFolder(dirname(file));
    writeFileSync(temporary, `${text}\n`, { mode: 0o600, flush: true });
    // An unusual umask could have removed the owner's rights.
    chmodSync(temporary, 0o600);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw fileError(path, 'written', error);
  }
}

/** Creates a folder, and those above it, that only their owner may read. */
export function createPrivateFolder(path: string): void {
  createFolder(path, 0o700);
}

/** Where links lead from a path; a last one may lead to a file that does not exist yet. */
export function targetOf(path: string): string {
  let target = resolve(path);
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      target = resolve(dirname(target), readlinkSync(target));
    } catch {
      // It is no link, or there is nothing.
      return target;
    }
  }
  throw new CliError(`${path} cannot be read: its links lead in a circle.`);
}

const MAX_LINKS = 40;

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'you lack the permission',
  EPERM: 'you lack the permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'your quota on the device is used up',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'a part of the path is not a folder',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the path is too long',
  ENOENT: 'there is no such file',
};

/** Says in a sentence why a file cannot be used. */
export function fileError(
  path: string,
  verb: 'read' | 'written' | 'created',
  error: unknown,
  exitCode: ExitCode = EXIT.failed,
): CliError {
  const code = codeOf(error);
  const reason = code === 'ENOENT' && verb !== 'read' ? 'there is no such folder' : (REASONS[code] ?? code);
  return new CliError(`${path} cannot be ${verb}: ${reason}.`, exitCode);
}

export function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? error);
}
