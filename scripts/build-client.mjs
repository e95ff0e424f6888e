/**
 * Builds the package @sluice/client: as ES modules and as CommonJS, each with its types. Takes the folder to build in, by
 * default dist/packages/client.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = `${root}libs/client`;
const output = process.argv[2] ?? `${root}dist/packages/client`;

rmSync(output, { recursive: true, force: true });
compile('esm', []);
compile('cjs', ['--module', 'commonjs', '--moduleResolution', 'bundler']);
// What a folder contains is what its package.json says.
writeFileSync(`${output}/cjs/package.json`, '{ "type": "commonjs" }\n');
copyFileSync(`${source}/package.json`, `${output}/package.json`);
copyFileSync(`${source}/README.md`, `${output}/README.md`);
copyFileSync(`${root}LICENSE`, `${output}/LICENSE`);

function compile(format, options) {
  mkdirSync(`${output}/${format}`, { recursive: true });
  const tsc = `${root}node_modules/typescript/bin/tsc`;
  const args = [tsc, '--project', source, '--outDir', `${output}/${format}`, ...options];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
