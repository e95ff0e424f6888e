import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../support/processes.js';
import { MINIATURE, PLANTS } from './planted.js';
import { cruise, type Cruise } from './tools.js';

const DEADLINE = 60_000;

/** Imports all planted files but the orphan, which violates rules itself. */
const PATH_TO_PLANTS = 'apps/planted/main.ts';

describe('The import rules', () => {
  let repository: Cruise;

  beforeAll(async () => {
    repository = await cruise(ROOT);
  }, DEADLINE);

  it('are followed', () => {
    expect(repository.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });

  it('allow one published port, which engineers implement', () => {
    const indexes = repository.modules
      .map(({ source }) => source)
      .filter((source) => /^libs\/[^/]+\/index\.ts$/.test(source));
    expect(publishedPorts(ROOT, indexes)).toEqual(['libs/messages/index.ts: MessageHandler']);
  });

  it('are errors, each with its reason', () => {
    const { forbidden, ...others } = repository.summary.ruleSetUsed;
    expect(others).toEqual({});
    expect(forbidden.filter(({ severity, comment = '' }) => severity !== 'error' || comment === '')).toEqual([]);
  });

  it('each have a planted violation', () => {
    const rules = repository.summary.ruleSetUsed.forbidden.map(({ name }) => name);
    expect([...new Set(PLANTS.map(({ rule }) => rule))].sort()).toEqual([...rules].sort());
  });
});

describe('A planted violation', () => {
  const planted = PLANTS.flatMap(({ files }) => Object.keys(files));
  let folder: string;
  let broken: Cruise;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-planted-')));
    await copyFile(join(ROOT, 'package.json'), join(folder, 'package.json'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
    for (const files of [MINIATURE, ...PLANTS.map((plant) => plant.files)]) await write(files);
    const found = PLANTS.filter(({ rule }) => rule !== 'no-orphans')
      .flatMap(({ files }) => Object.keys(files))
      .filter((path) => /^(apps|libs|examples)\/.*(?<!\.spec|\/index)\.ts$/.test(path));
    const imports = found.map((path) => `import '../../${path.replace(/\.ts$/, '.js')}';`);
    await write({ [PATH_TO_PLANTS]: imports.join('\n') });
    broken = await cruise(folder);
  }, DEADLINE);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(folder, dirname(path)), { recursive: true });
      await writeFile(join(folder, path), text, { flag: 'wx' });
    }
  }

  it.each(PLANTS.map(({ rule, what, files }) => ({ rule, what, paths: Object.keys(files) })))(
    'is caught by $rule alone: $what',
    ({ rule, paths }) => {
      const reported = broken.summary.violations.filter(({ from }) => paths.includes(from));
      expect([...new Set(reported.map(({ rule: { name } }) => name))]).toEqual([rule]);
    },
  );

  it('is the only violation that is reported', () => {
    const reported = broken.summary.violations.filter(({ from }) => from !== PATH_TO_PLANTS && !planted.includes(from));
    expect(reported.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });

  it('is detected when an index publishes a port through other files', async () => {
    await write({
      'libs/planted-port/index.ts': "export type { Bills } from './application/send-bill.js';",
      'libs/planted-port/application/send-bill.ts': "export { Bills } from './bills.js';",
      'libs/planted-port/application/bills.ts': 'export abstract class Bills {}',
    });
    expect(publishedPorts(folder, ['libs/planted-port/index.ts'])).toEqual(['libs/planted-port/index.ts: Bills']);
  });
});

/** The exports of an index that are ports, which are abstract classes. */
function publishedPorts(folder: string, indexes: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram(
    indexes.map((index) => join(folder, index)),
    { ...options, noLib: true, types: [], rootDir: folder },
  );
  const checker = program.getTypeChecker();
  return indexes.flatMap((index) => {
    const file = program.getSourceFile(join(folder, index));
    const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${index} exports nothing`);
    return checker
      .getExportsOfModule(module)
      .map((name) => (name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name))
      .filter(({ declarations = [] }) =>
        declarations.some(
          (declaration) =>
            ts.isClassDeclaration(declaration) &&
            declaration.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AbstractKeyword),
        ),
      )
      .map(({ name }) => `${index}: ${name}`);
  });
}
