import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/processes.js';

const NOT_COPIED = ['.git', '.data', 'coverage', 'node_modules'];

export interface Folder {
  readonly path: string;
  remove(): Promise<void>;
}

/** A folder that looks like a fresh clone in which the packages are installed and the sources are built. */
export async function makeClone(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'sluice-docs-'));
  // Started by root, PostgreSQL runs as somebody else, who must get to its data.
  await chmod(path, 0o755);
  for (const name of await readdir(ROOT)) {
    if (!NOT_COPIED.includes(name)) await cp(join(ROOT, name), join(path, name), { recursive: true });
  }
  await linkPackages(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  await cp(join(ROOT, 'node_modules', '.package-lock.json'), join(path, 'node_modules', '.package-lock.json'));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}

/** A folder of links and not one link, so that a command that empties it empties nothing else. */
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from)) {
    if (entry !== '.package-lock.json') await symlink(join(from, entry), join(to, entry));
  }
}
