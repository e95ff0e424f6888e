import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './processes.js';

/** Packs a package and installs the tarball in a folder, as one does on another machine, without a registry. */
export async function installTarball(name: 'cli' | 'client', folder: string): Promise<void> {
  const built = await mkdtemp(join(tmpdir(), 'sluice-packed-'));
  const run = (command: string, args: readonly string[], cwd: string) => promisify(execFile)(command, args, { cwd });
  try {
    await run(process.execPath, [join(ROOT, 'scripts/pack.mjs'), built, name], ROOT);
    const tarballs = (await readdir(built)).filter((file) => file.endsWith('.tgz'));
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    const options = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...options, ...tarballs.map((file) => join(built, file))], folder);
  } finally {
    await rm(built, { recursive: true, force: true });
  }
}
