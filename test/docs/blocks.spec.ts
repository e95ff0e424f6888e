import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import pg from 'pg';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { createTestDatabase } from '../support/database.js';
import { ROOT } from '../support/processes.js';
import { parseExample } from './compare.js';
import { anchorsOf, readPage, readPages, type Block, type Page } from './page.js';

interface Versions {
  readonly dependencies: Readonly<Record<string, string>>;
}

const pages = readPages();

const blocks = pages.flatMap((page) => page.blocks);
const NODE_CHECK = ['--input-type=module', '--check'];

const isRun = ({ marks }: Block) => marks['not run'] === undefined;
const runBlocksIn = (language: string) => blocks.filter((block) => block.language === language && isRun(block));

/** The errors of blocks, each with its page and line. */
function errorsIn(checked: readonly Block[], check: (block: Block) => string[]): string[] {
  return checked.flatMap((block) => check(block).map((error) => `${block.page}:${block.line}: ${error}`));
}

function errorOf(work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    return [String(error)];
  }
}

function parseYaml(text: string): void {
  for (const error of parseAllDocuments(text).flatMap(({ errors }) => errors)) throw error;
}

describe('Code blocks', () => {
  it('name their language', () => {
    expect(errorsIn(blocks, ({ language }) => (language === '' ? ['no language'] : []))).toEqual([]);
  });

  it('that are to be saved say as what, where a reader of the rendered page sees it', () => {
    const saved = blocks.filter(({ marks }) => marks.file !== undefined);
    const isNamed = ({ page, line, text, marks }: Block) => {
      const above = readPage(page)
        .text.split('\n')
        .slice(0, line - 1)
        .filter((one) => one !== '' && !one.startsWith('<!--'));
      return [...above.slice(-2), ...text.split('\n').slice(0, 1)].join(' ').includes(marks.file ?? '');
    };
    expect(saved.length).toBeGreaterThan(10);
    expect(saved.filter((block) => !isNamed(block)).map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });

  it.each<[string, (text: string) => unknown]>([
    ['json', parseExample],
    ['yaml', parseYaml],
    ['sh', (text) => execFileSync('bash', ['-n'], { input: text, stdio: 'pipe' })],
    ['js', (text) => execFileSync(process.execPath, NODE_CHECK, { input: text, stdio: 'pipe' })],
  ])('of %s are valid', (language, check) => {
    // Including blocks that are not run.
    const checked = blocks.filter((block) => block.language === language);
    expect(checked).not.toEqual([]);
    expect(errorsIn(checked, ({ text }) => errorOf(() => check(text)))).toEqual([]);
  });

  it('of TypeScript compile against the sources', () => {
    expect(typeErrors(runBlocksIn('ts'))).toEqual([]);
  }, 300_000);

  it('name the package versions that Sluice uses', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Versions;
    const named = blocks.filter((block) => !isRun(block) || ['sh', 'yaml', 'ts', 'js'].includes(block.language));
    const wrong = errorsIn(named, ({ text }) =>
      [...text.matchAll(/(?<![\w/])((?:@[\w-]+\/)?[\w-]+)@(\d[\w.-]*)/g)].flatMap(
        ([found, name = '', version = '']) => {
          const ours = dependencies[name];
          return ours === undefined || `${ours}.`.startsWith(`${version}.`) ? [] : [`${found}, but ${ours} is used`];
        },
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('of SQL run on the database', async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const wrong: string[] = [];
    let current = '';
    for (const { page, line, text } of runBlocksIn('sql')) {
      // Roles belong to the whole server and must not persist.
      if (page !== current) await client.query('ROLLBACK; BEGIN');
      current = page;
      await client.query('SAVEPOINT block');
      await client.query(text).catch(async (error: unknown) => {
        wrong.push(`${page}:${line}: ${String(error)}`);
        await client.query('ROLLBACK TO block');
      });
    }
    await client.end();
    await database.drop();
    expect(wrong).toEqual([]);
  });
});

describe('Links', () => {
  it('lead to existing files and headings', () => {
    const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page)]));
    const broken = pages.flatMap((page) =>
      linksOf(page).flatMap((link) => {
        const [file = '', anchor = ''] = link.split('#');
        const target = file === '' ? page.path : relative(ROOT, resolve(ROOT, dirname(page.path), file));
        const exists = !target.startsWith('..') && existsSync(join(ROOT, target));
        const hasAnchor = anchor === '' || !target.endsWith('.md') || anchors.get(target)?.has(anchor) === true;
        return exists && hasAnchor ? [] : [`${page.path}: ${link}`];
      }),
    );
    expect(broken).toEqual([]);
  });
});

describe('Paths in backticks', () => {
  const named = pages.flatMap(({ path, text }) => pathsIn(text).map((name) => ({ page: path, name })));

  it('exist', () => {
    // Or are written by a page.
    const written = new Set(blocks.map(({ marks }) => marks.file));
    expect(named.filter(({ name }) => !existsSync(join(ROOT, name)) && !written.has(name))).toEqual([]);
  });

  it.each([
    'docs/life-of-a-message.md',
    'docs/development.md',
    'docs/extending.md',
    'docs/adr/0013-rules-repeated-in-sql.md',
  ])('are found in %s', (page) => {
    expect(named.filter((path) => path.page === page).length).toBeGreaterThan(5);
  });

  it.each([
    ['`libs/messages/domain/message.ts`', ['libs/messages/domain/message.ts']],
    ['`libs/<context>/settings.ts`, `test/*/x.ts`', ['libs/', 'test/']],
    ['`node bench/run.mjs`, `sluice.messages`, libs/kernel/ids.ts', []],
  ])('are found: %s', (text, paths) => {
    expect(pathsIn(text)).toEqual(paths);
  });
});

/** Paths of the sources that a text names in backticks, each up to its first placeholder, such as `<context>`. */
function pathsIn(text: string): string[] {
  const found = text.matchAll(/`((?:apps|bench|docs|libs|test)\/[^\s`<*…]*)([<*…]?)/g);
  return [...found].map(([, path = '', end]) => (end === '' ? path : path.slice(0, path.lastIndexOf('/') + 1)));
}

/** Links within the repository: `[text](to)`, `[text]: to`, `<a href="to">` and `<img src="to">` outside of code. */
function linksOf({ text }: Page): string[] {
  const prose = text.replace(/^ *(```|~~~)[^]*?^ *\1/gm, '').replace(/`[^`\n]*`/g, '');
  const links = prose.matchAll(/\]\(\s*<?([^)\s>]+)|^ *\[[^\]]+\]: *<?([^\s>]+)|\b(?:href|src)="([^"]+)"/gm);
  return [...links]
    .map(([, inline, reference, html]) => inline ?? reference ?? html ?? '')
    .filter((link) => !/^[a-z][a-z+.-]*:/i.test(link));
}

/** Compiles blocks as files of the repository: under the name in their mark, or one of their own. */
function typeErrors(sources: readonly Block[]): string[] {
  const named = new Map(sources.map((block) => [join(ROOT, block.marks.file ?? `docs/${nameOf(block)}`), block]));
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const unused = { noUnusedLocals: false, noUnusedParameters: false };
  const paths = { '@sluice/client': [join(ROOT, 'libs/client/index.ts')] };
  const compilerOptions = { ...options, ...unused, paths, noEmit: true, types: ['node', 'jest'] };
  const host = ts.createCompilerHost(compilerOptions);
  host.readFile = (path) => named.get(path)?.text ?? ts.sys.readFile(path);
  host.fileExists = (path) => named.has(path) || ts.sys.fileExists(path);
  host.directoryExists = (path) =>
    ts.sys.directoryExists(path) || [...named.keys()].some((file) => file.startsWith(`${path}/`));
  const program = ts.createProgram([...named.keys()], compilerOptions, host);
  // Only of the blocks: another test checks the sources.
  const diagnostics = [...named.keys()].flatMap((path) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(path)),
  );
  return diagnostics.map(({ file, start, messageText }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line : 0;
    const block = named.get(file?.fileName ?? '');
    const place = block ? `${block.page}:${block.line + line + 1}` : (file?.fileName ?? 'unknown');
    return `${place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

function nameOf({ page, line }: Block): string {
  return `${page.replaceAll(/[/.]/g, '-')}-${line}.ts`;
}
