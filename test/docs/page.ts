import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/processes.js';

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  /** The line of its fence, from 1. */
  readonly line: number;
  /** What stands behind the fence, such as `sh`; nothing if there is nothing. */
  readonly language: string;
  readonly text: string;
  /** What the comments directly above it say, such as `{ file: 'worker.mjs' }`. */
  readonly marks: Readonly<Record<string, string>>;
  /** The number of headings before it: blocks with the same one stand in the same section. */
  readonly section: number;
}

export interface Page {
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Marks that belong to no block. */
  readonly marks: Readonly<Record<string, string>>;
}

/** What a comment on a page may say to these tests; docs/development.md explains them. */
const MARKS = ['not run', 'needs', 'file', 'serves', 'printed by', 'stops', 'limits'];

/** All pages that are written for people, as paths relative to the repository. */
export function pagePaths(): string[] {
  const below = ['docs', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${String(name)}`),
  );
  return [...readdirSync(ROOT), ...below].filter((path) => path.endsWith('.md')).sort();
}

export function readPage(path: string): Page {
  return parsePage(path, readFileSync(join(ROOT, path), 'utf8'));
}

export function parsePage(path: string, text: string): Page {
  const blocks: Block[] = [];
  let pending: Record<string, string> = {};
  const pageMarks: Record<string, string> = {};
  let section = 0;
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const fence = /^( *)(```+|~~~+) *([\w-]*)/.exec(line);
    if (fence) {
      const [, indent = '', ticks = '', language = ''] = fence;
      const end = lines.findIndex((other, at) => at > index && other.trim() === ticks);
      if (end < 0) throw new Error(`${path}:${index + 1}: the block has no end.`);
      const content = lines
        .slice(index + 1, end)
        .map((inner) => inner.replace(new RegExp(`^ {0,${indent.length}}`), ''));
      blocks.push({ page: path, line: index + 1, language, text: content.join('\n'), marks: pending, section });
      pending = {};
      index = end;
    } else if (line.trim() !== '') {
      const mark = markOf(line);
      // A mark with anything but a block below it speaks of the page.
      if (mark === null) {
        Object.assign(pageMarks, pending);
        pending = {};
      } else pending = { ...pending, ...mark };
      if (/^#{1,6} /.test(line)) section++;
    }
  }
  return { path, text, blocks, marks: { ...pageMarks, ...pending } };
}

/** Anchors of a page's headings, as GitHub makes them. */
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

/** @throws Error when it looks like a mark, and nobody would understand it */
function markOf(line: string): Record<string, string> | null {
  const comment = /^<!--(.*)-->$/.exec(line.trim())?.[1]?.trim();
  if (comment === undefined || comment.startsWith('prettier-ignore')) return comment === undefined ? null : {};
  const name = MARKS.find((mark) => comment.startsWith(`${mark}: `));
  if (name === undefined) throw new Error(`No test understands <!-- ${comment} -->: it takes ${MARKS.join(', ')}.`);
  return { [name]: comment.slice(name.length + 2) };
}
