import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/processes.js';

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  /** The line of its fence, from 1. */
  readonly line: number;
  /** The info string of the fence, such as `sh`; may be empty. */
  readonly language: string;
  readonly text: string;
  /** The comments directly above it, such as `{ file: 'worker.mjs' }`. */
  readonly marks: Readonly<Record<string, string>>;
  /** The number of headings before it. */
  readonly section: number;
}

export interface Page {
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** The instructions that a comment may contain; docs/development.md explains them. */
const MARKS = ['not run', 'needs', 'file', 'serves', 'printed by', 'stops'];

/** Paths of all Markdown pages, relative to the repository. */
export function pagePaths(): string[] {
  const below = ['docs', 'apps/worker/handlers'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${String(name)}`),
  );
  return [...readdirSync(ROOT), ...below].filter((path) => path.endsWith('.md')).sort();
}

/** All of them. */
export function readPages(): Page[] {
  return pagePaths().map(readPage);
}

export function readPage(path: string): Page {
  return parsePage(path, readFileSync(join(ROOT, path), 'utf8'));
}

export function parsePage(path: string, text: string): Page {
  const blocks: Block[] = [];
  let pending: Record<string, string> = {};
  let section = 0;
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const fence = /^( *)(```+|~~~+) *([\w-]*)/.exec(line);
    if (fence) {
      const [, indent = '', ticks = '', language = ''] = fence;
      const end = lines.findIndex((other, at) => at > index && other.trim() === ticks);
      if (end < 0) throw new Error(`${path}:${index + 1}: the block is not closed.`);
      const content = lines
        .slice(index + 1, end)
        .map((inner) => inner.replace(new RegExp(`^ {0,${indent.length}}`), ''));
      blocks.push({ page: path, line: index + 1, language, text: content.join('\n'), marks: pending, section });
      pending = {};
      index = end;
    } else if (line.trim() !== '') {
      const mark = markOf(line);
      if (mark === null && Object.keys(pending).length > 0) {
        throw new Error(`${path}:${index + 1}: expected a block below the comment.`);
      }
      pending = { ...pending, ...mark };
      if (/^#{1,6} /.test(line)) section++;
    }
  }
  return { path, text, blocks };
}

/** The anchors that GitHub generates for the headings of a page. */
export function anchorsOf(page: Page): Set<string> {
  const seen = new Map<string, number>();
  const prose = page.text.replace(/^( *)(```+|~~~+)[^]*?^ *\2 *$/gm, '');
  const anchors = [...prose.matchAll(/^#{1,6} +(.*?) *#*$/gm)].map(([, heading = '']) => {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = text.replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  return new Set(anchors);
}

/** @throws Error for a comment that is not an instruction */
function markOf(line: string): Record<string, string> | null {
  const comment = /^<!--(.*)-->$/.exec(line.trim())?.[1]?.trim();
  if (comment === undefined) return null;
  const name = MARKS.find((mark) => comment.startsWith(`${mark}: `));
  if (name === undefined) throw new Error(`Unknown instruction <!-- ${comment} -->. Known: ${MARKS.join(', ')}.`);
  return { [name]: comment.slice(name.length + 2) };
}
