import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A change writes several files. */
const SETTLED_MS = 300;

const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Builds the sources whenever they change, until this process ends. Resolves when they were built once.
 * @param onBuilt called after each later build
 */
export async function watchSources(onBuilt: () => void): Promise<void> {
  const args = ['node_modules/@nestjs/cli/bin/nest.js', 'build', '--watch', '--preserveWatchOutput'];
  const compiler = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => compiler.kill());
  await new Promise<void>((resolve, reject) => {
    compiler.once('error', reject).once('exit', () => {
      reject(new Error('nest build --watch ended.'));
    });
    createInterface(compiler.stdout).on('line', (line) => {
      console.log(line);
      if (line.includes('Watching for file changes')) resolve();
    });
  });
  let timer: NodeJS.Timeout | undefined;
  watch(`${root}dist`, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(onBuilt, SETTLED_MS);
  });
}
