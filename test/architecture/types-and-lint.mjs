/** Type checks and lints the repository with one TypeScript program, since both spend most of their time on types. */
import { ESLint } from 'eslint';
import ts from 'typescript';

const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, '.');
const program = ts.createProgram(fileNames, options);

const parserOptions = { project: null, programs: [program] };
const eslint = new ESLint({ overrideConfig: { files: ['**/*.ts'], languageOptions: { parserOptions } } });
const results = await eslint.lintFiles(['.']);
const errors = ts.getPreEmitDiagnostics(program);

const { format } = await eslint.loadFormatter('stylish');
const names = {
  getCurrentDirectory: ts.sys.getCurrentDirectory,
  getCanonicalFileName: (name) => name,
  getNewLine: () => '\n',
};
process.stdout.write(ts.formatDiagnostics(errors, names) + (await format(results)));
process.exitCode = Number(errors.length > 0 || results.some(({ errorCount }) => errorCount > 0));
