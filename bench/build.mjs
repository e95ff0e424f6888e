import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { root } from '../apps/dev/prepare.mjs';

/**
 * Translates bench/ into dist/bench, beside the program that it measures. Types are checked with those of the tests:
 * `npm run build` leaves the benchmark out, since nothing of it is needed in production.
 */
export function buildBench() {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root);
  const names = readdirSync(join(root, 'bench'), { recursive: true }).filter((name) => name.endsWith('.ts'));
  for (const name of names) {
    const fileName = join(root, 'bench', name);
    const { outputText } = ts.transpileModule(readFileSync(fileName, 'utf8'), {
      fileName,
      // One file by itself doesn't know that package.json says what modules are.
      compilerOptions: { ...options, module: ts.ModuleKind.ESNext, sourceMap: false },
    });
    const file = join(root, 'dist', 'bench', name.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(file), { recursive: true });
    // Renamed into place: another benchmark that runs never reads half of a file.
    writeFileSync(`${file}.${process.pid}`, outputText);
    renameSync(`${file}.${process.pid}`, file);
  }
}
