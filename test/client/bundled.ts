import { gzipSync } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';
import { join } from 'node:path';
import { ROOT } from '../support/processes.js';

/** What a page loads that imports `Sluice`. */
export async function bundled(options: BuildOptions = {}) {
  const result = await build({
    stdin: { contents: "export { Sluice } from './index.js';", resolveDir: join(ROOT, 'libs/client') },
    ...{ bundle: true, minify: true, format: 'esm', target: 'es2022', write: false },
    ...options,
  });
  const code = result.outputFiles?.[0]?.text ?? '';
  return { code, gzippedBytes: gzipSync(code).length };
}
