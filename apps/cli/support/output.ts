import { styleText, stripVTControlCharacters } from 'node:util';
import type { WriteStream } from 'node:tty';
import type { Account } from '#client/index.js';
import { outputClosed } from './pipes.js';
import { cut, tableOf, type Column, type Style } from './table.js';
import { visible, visibleJson, visibleLines } from './visible.js';

/** Of the rest, a pipe has nothing. */
type Stream = Pick<WriteStream, 'write'> & Partial<WriteStream>;

/** A text, and from 0 to 1 the length of a bar that illustrates it; without a length, there is none. */
export interface Share {
  readonly text: string;
  readonly share?: number;
}

/**
 * Writes results to standard output, and remarks for people to standard error. On a terminal, results are tables with
 * colours; into a pipe, they are lines of fields that are separated by tabs.
 */
export class Output {
  private readonly out: Stream = process.stdout;
  private readonly err: Stream = process.stderr;

  constructor(readonly isJson: boolean) {}

  /** One document with `--json`, otherwise text. */
  result(value: unknown, text: () => string): void {
    if (this.isJson) this.json(value, this.isTerminal ? 2 : 0);
    else this.line(text());
  }

  /** One of several results: a line of JSON with `--json`. */
  item(value: unknown, text: () => string): void {
    if (this.isJson) this.json(value);
    else this.line(text());
  }

  /** A list: an array with `--json`, written as the pages arrive, while somebody reads them. */
  async list<Row>(
    pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
    columns: readonly Column<Row>[],
    none: string,
  ): Promise<void> {
    let count = 0;
    for await (const rows of pages) {
      if (outputClosed.aborted) return;
      if (this.isJson) {
        for (const [at, row] of rows.entries()) {
          this.out.write(`${count + at === 0 ? '[' : ','}\n${visibleJson(row)}`);
        }
      } else if (rows.length > 0) this.line(this.table(rows, columns, count === 0));
      count += rows.length;
    }
    if (this.isJson) this.line(count === 0 ? '[]' : '\n]');
    else if (count === 0) this.note(none);
  }

  private table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], hasHeading: boolean): string {
    if (!this.isTerminal) return rows.map((row) => columns.map(([, text]) => visible(text(row))).join('\t')).join('\n');
    const paintRow = (style: Style, text: string) => this.style(style, text);
    return tableOf(rows, columns, { columns: this.out.columns ?? 80, hasHeading, visible, paint: paintRow });
  }

  /** Names and values, one a line. */
  fields(fields: Readonly<Record<string, string | number | null | Share>>): string {
    const width = Math.max(...Object.keys(fields).map((name) => name.length)) + 2;
    return Object.entries(fields)
      .map(([name, value]) => {
        const { text, share }: Share = typeof value === 'object' ? (value ?? { text: '-' }) : { text: String(value) };
        if (!this.isTerminal) return `${name}\t${visible(text)}`;
        return `${this.style('dim', name.padEnd(width))}${share === undefined ? '' : this.bar(share)}${visible(text)}`;
      })
      .join('\n');
  }

  private bar(share: number): string {
    const color = share >= 0.9 ? 'red' : share >= 0.7 ? 'yellow' : 'green';
    return `${this.style(color, bar(share))}  `;
  }

  style(style: Style, text: string): string {
    return paint(this.out, style, text);
  }

  /** Escapes control characters, since parts of the text come from the service. */
  line(text: string): void {
    this.out.write(`${visibleLines(text, this.out.hasColors?.() === true)}\n`);
  }

  private json(value: unknown, indent?: number): void {
    this.out.write(`${visibleJson(value, indent)}\n`);
  }

  /** A remark for people: nothing that a program would read. */
  note(text: string): void {
    this.remark('', text);
  }

  success(text: string): void {
    this.remark(`${paint(this.err, 'green', '✓')} `, text);
  }

  warn(text: string): void {
    this.remark(`${paint(this.err, 'yellow', '!')} `, text);
  }

  error(text: string): void {
    this.remark(`${paint(this.err, 'red', 'error:')} `, text);
  }

  /** Some of it may be what the service said. */
  private remark(mark: string, text: string): void {
    this.err.write(`${mark}${text.split('\n').map(visible).join('\n')}\n`);
  }

  /**
   * A bar of progress below the other output; nothing unless standard error is a terminal. The bars of libraries read
   * the keyboard, from which messages may come, or end the process.
   */
  progress(): Progress {
    return new Progress(this.err);
  }

  /** A list in place of what the terminal shows: the first rows, as many as fit. */
  screen<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none: string): void {
    if (!isDumb()) this.out.write('\u001b[2J\u001b[H');
    let shown = this.table(rows, columns, true);
    // The cursor is in the last line.
    for (let count = rows.length - 1; count > 0 && shown.split('\n').length >= this.height; count--) {
      shown = this.table(rows.slice(0, count), columns, true);
    }
    if (rows.length === 0) this.note(none);
    else this.line(shown);
  }

  /** Lines of the terminal. */
  get height(): number {
    return this.out.rows ?? Infinity;
  }

  get isTerminal(): boolean {
    return this.out.isTTY === true;
  }
}

export class Progress {
  private shownAt = 0;
  private isShown = false;

  constructor(private readonly stream: Stream) {}

  get isVisible(): boolean {
    return this.stream.isTTY === true && !isDumb();
  }

  /** Shows a bar and a text, at most ten times a second unless it must be seen. */
  show(fraction: number | null, text: string, isImportant = false): void {
    if (!this.isVisible || (!isImportant && Date.now() - this.shownAt < 100)) return;
    this.shownAt = Date.now();
    this.isShown = true;
    const start = fraction === null ? '' : `${paint(this.stream, 'cyan', bar(fraction))} `;
    const room = (this.stream.columns ?? 80) - stripVTControlCharacters(start).length - 1;
    this.stream.write(`\r\u001b[2K${start}${cut(text, room)}`);
  }

  /** Removes the bar. */
  end(): void {
    if (this.isShown) this.stream.write('\r\u001b[2K');
    this.isShown = false;
    this.shownAt = 0;
  }
}

/** Whether the terminal, such as one in an editor, shows sequences instead of obeying them. */
function isDumb(): boolean {
  return process.env.TERM === 'dumb';
}

function bar(fraction: number): string {
  const full = Math.round(Math.min(Math.max(fraction, 0), 1) * BAR_WIDTH);
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
}

const BAR_WIDTH = 24;

/** Colours follow NO_COLOR, FORCE_COLOR and what the terminal can do. */
function paint(stream: Stream, style: Style, text: string): string {
  if (style === 'reset' || stream.hasColors?.() !== true) return text;
  return styleText(style, text, { validateStream: false });
}

/** `2026-11-21T13:14:49Z` */
export function time(at: string | null): string {
  return at === null ? '-' : at.replace(/\.\d+Z$/, 'Z');
}

/** How long ago that was: `12s`, `5m`, `3h`, `40d`. */
export function age(at: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(at)) / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** `8 h 12 min`; the two largest units. */
export function duration(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  const parts = [`${days} d`, `${hours} h`, `${minutes} min`, `${Math.ceil(seconds % 60)} s`];
  const first = [days, hours, minutes, 1].findIndex((count) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter((part, at) => at === 0 || !part.startsWith('0 '))
    .join(' ');
}

export function count(value: number, noun = ''): string {
  const text = value.toLocaleString('en-US');
  return noun === '' ? text : `${text} ${noun}${value === 1 ? '' : 's'}`;
}

/** `free: 60 requests a minute, 1,000 a day` */
export function planLine({ plan, limits }: Pick<Account, 'plan' | 'limits'>): string {
  return `${plan}: ${count(limits.perMinute)} requests a minute, ${count(limits.perDay)} a day`;
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log2(Math.max(value, 1)) / 10), units.length - 1);
  return `${(value / 1_024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power] ?? ''}`;
}
