import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { root } from '../apps/dev/prepare.mjs';

/**
 * Transpiles bench/ into dist/bench. Its types are checked together with the tests:
 * `npm run build` leaves the benchmark out.
 */
export function buildBench() {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root);
  const names = readdirSync(join(root, 'bench'), { recursive: true }).filter((name) => name.endsWith('.ts'));
  for (const name of names) {
    const fileName = join(root, 'bench', name);
    const { outputText } = ts.transpileModule(readFileSync(fileName, 'utf8'), {
      fileName,
      // transpileModule does not read the module type from package.json.
      compilerOptions: { ...options, module: ts.ModuleKind.ESNext, sourceMap: false },
    });
    const file = join(root, 'dist', 'bench', name.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(file), { recursive: true });
    // Renamed into place, so that a benchmark that is running never reads a partial file.
    writeFileSync(`${file}.${process.pid}`, outputText);
    renameSync(`${file}.${process.pid}`, file);
  }
}
