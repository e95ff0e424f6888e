/** Type checks and lints the repository with the same TypeScript programs, since both spend most of their time on types. */
import { ESLint } from 'eslint';
import ts from 'typescript';

// The portal runs in browsers, with their types instead of those of Node.js.
const programs = ['.', 'apps/portal'].map((folder) => {
  const { config } = ts.readConfigFile(`${folder}/tsconfig.json`, ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  return ts.createProgram(fileNames, options);
});

const parserOptions = { project: null, programs };
const eslint = new ESLint({ overrideConfig: { files: ['**/*.ts', '**/*.tsx'], languageOptions: { parserOptions } } });
const results = await eslint.lintFiles(['.']);
const errors = programs.flatMap((program) => ts.getPreEmitDiagnostics(program));

const { format } = await eslint.loadFormatter('stylish');
const names = {
  getCurrentDirectory: ts.sys.getCurrentDirectory,
  getCanonicalFileName: (name) => name,
  getNewLine: () => '\n',
};
process.stdout.write(ts.formatDiagnostics(errors, names) + (await format(results)));
process.exitCode = Number(errors.length > 0 || results.some(({ errorCount }) => errorCount > 0));
