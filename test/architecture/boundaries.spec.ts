import { readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../support/processes.js';
import { MINIATURE, PLANTS } from './planted.js';
import { cruise, type Cruise } from './tools.js';

/** Imports all planted files but the orphan, which violates rules itself. */
const PATH_TO_PLANTS = 'apps/planted/main.ts';

describe('The import rules', () => {
  let repository: Cruise;

  beforeAll(async () => {
    repository = await cruise(ROOT);
  });

  it('are followed', () => {
    expect(repository.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });

  it('let a context publish only what another one uses', () => {
    const sources = repository.modules
      .map(({ source }) => source)
      .filter((source) => /^(apps|libs)\/.*\.ts$/.test(source));
    const indexes = sources.filter((source) => /^libs\/[^/]+\/(adapters\/[^/]+\/)?index\.ts$/.test(source));
    const unused = indexes
      .filter((index) => !index.startsWith('libs/client/'))
      .flatMap((index) => {
        const imported = new Set(sources.flatMap((source) => namesFrom(source, index.replace('libs/', '#'))));
        return published(index).filter((name) => !imported.has(name));
      });
    expect(unused).toEqual([]);
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
      .filter((path) => /^(apps|libs)\/.*(?<!\.spec|\/index)\.ts$/.test(path));
    const imports = found.map((path) => `import '../../${path.replace(/\.ts$/, '.js')}';`);
    await write({ [PATH_TO_PLANTS]: imports.join('\n') });
    broken = await cruise(folder);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(folder, dirname(path)), { recursive: true });
      await writeFile(join(folder, path), text, { flag: 'wx' });
    }
  }

  it.each(PLANTS)('is caught by $rule alone: $what', ({ rule, times, files }) => {
    const reported = broken.summary.violations.filter(({ from }) => from in files);
    expect(reported.map(({ rule: { name } }) => name)).toEqual(Array(times).fill(rule));
  });

  it('is the only violation that is reported', () => {
    const reported = broken.summary.violations.filter(({ from }) => from !== PATH_TO_PLANTS && !planted.includes(from));
    expect(reported.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });
});

const EXPORT = /^export (?:type )?\{([^}]+)\} from '.+\.js';$/gm;

/** The names that an index exports. */
function published(index: string): string[] {
  const text = readFileSync(join(ROOT, index), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
  // It must name each: `export *` would publish what others add.
  expect(text.replace(EXPORT, '').trim()).toBe('');
  return [...text.matchAll(EXPORT)].flatMap(([, names = '']) => namesIn(names));
}

/** The names that a source imports from an index such as `#messages/index.ts`. */
function namesFrom(source: string, index: string): string[] {
  const text = readFileSync(join(ROOT, source), 'utf8');
  const imports = text.matchAll(/^(?:import|export) (?:type )?\{([^}]+)\} from '(.+)';$/gm);
  return [...imports].flatMap(([, names = '', path]) => (path === index.replace(/ts$/, 'js') ? namesIn(names) : []));
}

const namesIn = (list: string) =>
  list
    .split(',')
    .map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*/, ''),
    )
    .filter((name) => name !== '');
