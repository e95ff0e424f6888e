/**
 * Bundles the compiled programs with their packages, in place: a program of a few files starts in half of the time that
 * it takes to load 2,500. All other modules stay in dist/ as `nest build` writes them, and work without this, too.
 */
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
/** The programs, and the modules that programs of the tests and of the benchmark import. */
const ENTRIES = [
  ...['apps/api/main.js', 'apps/cli/main.js', 'apps/dev/main.js', 'apps/worker/main.js'],
  ...['apps/api/api.js', 'apps/schema.js', 'apps/settings.js', 'apps/worker/worker.js'],
  ...['libs/platform/observability/logging.js', 'libs/platform/process/process.js'],
];
/** What the entries share. */
const CHUNKS = 'chunks';

/** What some modules expect of Node.js, and a bundle does not have. */
const BANNER = `
import { createRequire as __createRequire } from 'node:module';
import { pathToFileURL as __pathToFileURL } from 'node:url';
const require = __createRequire(import.meta.url);
const __root = require.resolve('#package.json').slice(0, -'package.json'.length);
`;

/** Modules find files beside them where these were before. */
const places = {
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!/\b(?:__dirname|__filename|import\.meta\.url)\b/.test(text)) return null;
      const place = (file) => `__root + ${JSON.stringify(relative(root, file))}`;
      const url = `__pathToFileURL(${place(path)}).href`;
      return text.includes('import.meta.url')
        ? { contents: text.replaceAll('import.meta.url', url) }
        : { contents: `const __filename = ${place(path)}, __dirname = ${place(dirname(path))};${text}` };
    });
  },
};

/** Packages that are loaded on demand, and those that other packages use if they are installed, and are not. */
const unbundled = {
  name: 'unbundled',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./#]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === unbundled) return null;
      if (from.kind === 'dynamic-import' && !from.importer.includes('node_modules')) return { path, external: true };
      const { errors } = await resolve(path, { ...from, pluginData: unbundled });
      return errors.length > 0 ? { path, external: true } : null;
    });
  },
};

const { metafile } = await build({
  entryPoints: ENTRIES.map((entry) => join(dist, entry)),
  outdir: dist,
  outbase: dist,
  allowOverwrite: true,
  chunkNames: `${CHUNKS}/[name]-[hash]`,
  ...{ bundle: true, splitting: true, platform: 'node', format: 'esm', target: 'node20' },
  // TypeORM, the OpenAPI document and logs use the names of classes.
  keepNames: true,
  legalComments: 'none',
  banner: { js: BANNER },
  plugins: [places, unbundled],
  metafile: true,
  logLevel: 'warning',
});
const written = new Set(Object.keys(metafile.outputs).map((path) => join(root, path)));
for (const name of await readdir(join(dist, CHUNKS))) {
  const path = join(dist, CHUNKS, name);
  if (!written.has(path)) await rm(path);
}
await nameOnlyClasses();
await declareHandler();

/**
 * With `keepNames`, esbuild also names each function that a request creates, which takes 0.3 µs a function. Only names of
 * classes begin with a letter before "[".
 */
async function nameOnlyClasses() {
  const naming = 'var __name = (target, value) => __defProp(target, "name", { value, configurable: true });';
  const cheap = naming.replace('=> ', '=> value < "[" ? ').replace(/;$/, ' : target;');
  const texts = await Promise.all([...written].map(async (path) => [path, await readFile(path, 'utf8')]));
  const found = texts.filter(([, text]) => text.includes(naming));
  if (found.length !== 1) throw new Error('esbuild names functions in another way than expected.');
  const [[path, text]] = found;
  await writeFile(path, text.replace(naming, cheap));
}

/** The types of `sluice/handler`, for handlers outside of this repository. */
async function declareHandler() {
  const source = await readFile(join(root, 'libs/delivery/application/message-handler.ts'), 'utf8');
  await writeFile(join(dist, 'handler.d.ts'), ts.transpileDeclaration(source, { reportDiagnostics: true }).outputText);
}
