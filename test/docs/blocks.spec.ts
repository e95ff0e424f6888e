import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import pg from 'pg';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { createTestDatabase } from '../support/database.js';
import { ROOT } from '../support/processes.js';
import { parseExample } from './example.js';
import { anchorsOf, pagePaths, readPage, type Block } from './page.js';

interface Versions {
  readonly dependencies: Readonly<Record<string, string>>;
}

const pages = pagePaths().map(readPage);

function blocksIn(...languages: string[]): Block[] {
  const blocks = pages.flatMap((page) => page.blocks.filter(({ language }) => languages.includes(language)));
  return blocks.filter(({ marks }) => marks['not run'] === undefined);
}

function notRun(): Block[] {
  return pages.flatMap((page) => page.blocks.filter(({ marks }) => marks['not run'] !== undefined));
}

/** What is wrong with blocks, each with its place. */
function wrongIn(blocks: readonly Block[], check: (block: Block) => string[]): string[] {
  return blocks.flatMap((block) => check(block).map((wrong) => `${block.page}:${block.line}: ${wrong}`));
}

function thrownBy(work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    return [String(error)];
  }
}

describe('Blocks on pages', () => {
  it('say in which language they are', () => {
    const blocks = pages.flatMap((page) => page.blocks);
    expect(wrongIn(blocks, ({ language }) => (language === '' ? ['no language'] : []))).toEqual([]);
  });

  it('of JSON and YAML can be read', () => {
    expect(wrongIn(blocksIn('json'), ({ text }) => thrownBy(() => parseExample(text)))).toEqual([]);
    const yaml = wrongIn(blocksIn('yaml'), ({ text }) =>
      parseAllDocuments(text).flatMap(({ errors }) => errors.map(String)),
    );
    expect(yaml).toEqual([]);
  });

  it('of a shell can be read', () => {
    // Also those that are not run here.
    const blocks = pages.flatMap((page) => page.blocks.filter(({ language }) => language === 'sh'));
    const read = (text: string) => execFileSync('bash', ['-n'], { input: text, stdio: ['pipe', 'pipe', 'pipe'] });
    expect(wrongIn(blocks, ({ text }) => thrownBy(() => read(text)))).toEqual([]);
  });

  it('of JavaScript can be read', () => {
    const read = (text: string) =>
      execFileSync(process.execPath, ['--input-type=module', '--check'], {
        input: text,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
    expect(wrongIn(blocksIn('js'), ({ text }) => thrownBy(() => read(text)))).toEqual([]);
  });

  it('of TypeScript have the types of the sources', () => {
    expect(typeErrors(blocksIn('ts'))).toEqual([]);
  }, 120_000);

  it('name the packages that Sluice itself uses, in the same versions', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Versions;
    const wrong = wrongIn(blocksIn('sh', 'yaml', 'ts', 'js').concat(notRun()), ({ text }) =>
      [...text.matchAll(/(?<![\w/])((?:@[\w-]+\/)?[\w-]+)@(\d[\w.-]*)/g)].flatMap(
        ([named, name = '', version = '']) => {
          const ours = dependencies[name];
          return ours === undefined || `${ours}.`.startsWith(`${version}.`) ? [] : [`${named}, but ${ours} is used`];
        },
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('of SQL are understood by the database', async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const wrong: string[] = [];
    for (const { page, line, text } of blocksIn('sql')) {
      // Roles belong to the whole server: nothing may stay behind.
      await client.query('BEGIN');
      await client.query(text).catch((error: unknown) => wrong.push(`${page}:${line}: ${String(error)}`));
      await client.query('ROLLBACK');
    }
    await client.end();
    await database.drop();
    expect(wrong).toEqual([]);
  });
});

describe('Links on pages', () => {
  it('lead to headings that are there', () => {
    const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page)]));
    const lost = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)].flatMap(([link, file = '', anchor = '']) => {
        if (file.includes('://')) return [];
        const target = file === '' ? path : relative(ROOT, resolve(ROOT, dirname(path), file));
        return anchors.get(target)?.has(anchor) === true || !target.endsWith('.md') ? [] : [`${path}: ${link}`];
      }),
    );
    expect(lost).toEqual([]);
  });
});

/** Compiles blocks as if they stood in the repository: a marked file under its name, others as files of their own. */
function typeErrors(blocks: readonly Block[]): string[] {
  const named = new Map(blocks.map((block) => [join(ROOT, block.marks.file ?? `docs/${nameOf(block)}`), block]));
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const loose = { ...options, noEmit: true, noUnusedLocals: false, noUnusedParameters: false, types: ['node', 'jest'] };
  const host = ts.createCompilerHost(loose);
  host.readFile = (path) => named.get(path)?.text ?? ts.sys.readFile(path);
  host.fileExists = (path) => named.has(path) || ts.sys.fileExists(path);
  host.directoryExists = (path) =>
    ts.sys.directoryExists(path) || [...named.keys()].some((file) => file.startsWith(`${path}/`));
  const program = ts.createProgram([...named.keys()], loose, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line : 0;
    const block = named.get(file?.fileName ?? '');
    const place = block ? `${block.page}:${block.line + line + 1}` : (file?.fileName ?? 'nowhere');
    return `${place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

function nameOf({ page, line }: Block): string {
  return `${page.replaceAll(/[/.]/g, '-')}-${line}.ts`;
}
