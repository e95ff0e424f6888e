/**
 * Builds the package sluice-cli: the command line with all that it imports, so that installing it needs no registry. Takes
 * the folder to build in, by default dist/packages/cli.
 */
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = process.argv[2] ?? `${root}dist/packages/cli`;
const { version, license, engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** For packages that are CommonJS. */
const BANNER = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);`;

rmSync(output, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { sluice: `${root}apps/cli/packaged.ts` },
  outdir: output,
  chunkNames: 'chunks/[name]-[hash]',
  ...{ bundle: true, splitting: true, platform: 'node', format: 'esm', target: 'node20' },
  conditions: ['development'],
  legalComments: 'none',
  banner: { js: BANNER },
  metafile: true,
  logLevel: 'warning',
});
const manifest = {
  name: 'sluice-cli',
  version,
  description: 'The command line of Sluice',
  keywords: ['sluice', 'message-queue', 'webhooks', 'cli'],
  license,
  type: 'module',
  engines,
  bin: { sluice: 'sluice.js' },
};
writeFileSync(`${output}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync(`${root}apps/cli/README.md`, `${output}/README.md`);
copyFileSync(`${root}LICENSE`, `${output}/LICENSE`);
writeFileSync(`${output}/THIRD-PARTY-LICENSES`, licensesOf(Object.keys(metafile.inputs)));

/** The licences of the packages in the bundle, which they demand to be passed on. */
function licensesOf(files) {
  const folders = new Set(files.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${root}${folder}/package.json`, 'utf8'));
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE']
      .map((one) => `${root}${folder}/${one}`)
      .find((path) => existsSync(path));
    return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(file, 'utf8').trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
