import type { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

/** How a column adapts to the width of a terminal. */
interface Fit<Row> {
  /** What a terminal shows instead. */
  readonly short?: readonly [heading: string, text: (row: Row) => string];
  /** It is left out where there is no room for it, and where no row has a value. */
  readonly isOptional?: boolean;
  /** Of the last column: with less room than this, it gets a line of its own below the others. */
  readonly minWidth?: number;
}

/** A column of a table: its heading, and the text of a row. */
export type Column<Row> = readonly [
  heading: string,
  text: (row: Row) => string,
  style?: ((row: Row) => Style) | undefined,
  fit?: Fit<Row>,
];

interface Measured {
  readonly heading: string;
  readonly cells: readonly string[];
  readonly styles: readonly Style[];
  readonly width: number;
  readonly isOptional: boolean;
  readonly minWidth: number | undefined;
}

interface Options {
  /** Of the terminal. */
  readonly columns: number;
  readonly hasHeading: boolean;
  readonly visible: (text: string) => string;
  readonly paint: (style: Style, text: string) => string;
}

const GAP = 2;
const LEAST = 8;

/** The lines of a table for a terminal. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: Options): string {
  const all = columns.map((column) => measured(rows, column, options.visible)).filter(hasValues);
  const last = all.at(-1);
  if (last === undefined) return '';
  const needed = last.minWidth === undefined ? LEAST : Math.min(last.minWidth, last.width);
  const beside = fitting(all.slice(0, -1), options.columns - needed - GAP);
  const isBeside = last.minWidth === undefined || widthOf(beside) + GAP + needed <= options.columns;
  const shown = isBeside ? [...beside, last] : fitting(all.slice(0, -1), options.columns);
  const lines = rows.flatMap((_, row) => {
    const line = lineOf(
      shown.map(({ cells, styles, width }) => [cells[row] ?? '', styles[row] ?? 'reset', width]),
      options,
    );
    return isBeside ? [line] : [line, `  ${cut(last.cells[row] ?? '', Math.max(options.columns - 2, LEAST))}`];
  });
  const heading = lineOf(
    shown.map(({ heading, width }) => [heading, 'dim', width]),
    options,
  );
  return [...(options.hasHeading ? [heading] : []), ...lines].join('\n');
}

function measured<Row>(
  rows: readonly Row[],
  [long, textOf, style, { short, isOptional = false, minWidth } = {}]: Column<Row>,
  visible: (text: string) => string,
): Measured {
  const [heading, text] = short ?? [long, textOf];
  const cells = rows.map((row) => visible(text(row)));
  const width = Math.max(heading.length, ...cells.map(columnsOf));
  const styles = rows.map((row) => style?.(row) ?? 'reset');
  return { heading, cells, styles, width, isOptional, minWidth };
}

function hasValues({ isOptional, cells }: Measured): boolean {
  return !isOptional || cells.some((cell) => cell !== '-');
}

/** Without the optional columns for which there is no room, from the right. */
function fitting(columns: readonly Measured[], room: number): readonly Measured[] {
  const dropped = columns.findLast(({ isOptional }) => isOptional);
  if (dropped === undefined || widthOf(columns) <= room) return columns;
  return fitting(
    columns.filter((column) => column !== dropped),
    room,
  );
}

function widthOf(columns: readonly Measured[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP, -GAP);
}

function lineOf(cells: readonly (readonly [text: string, style: Style, width: number])[], options: Options): string {
  let used = 0;
  return cells
    .map(([text, style, width], at) => {
      const isLast = at === cells.length - 1;
      const room = Math.max(options.columns - used, LEAST);
      used += width + GAP;
      return options.paint(style, isLast ? cut(text, room) : text + ' '.repeat(width + GAP - columnsOf(text)));
    })
    .join('');
}

/** A text that is cut where there is no room for it. */
export function cut(text: string, room: number): string {
  if (columnsOf(text) <= room) return text;
  let start = '';
  let used = 1;
  for (const character of charactersOf(text)) {
    used += widthOfCharacter(character);
    if (used > room) break;
    start += character;
  }
  return `${start}…`;
}

/** The columns of a terminal that a text takes: East Asian characters and emoji take two. */
export function columnsOf(text: string): number {
  return ASCII.test(text) ? text.length : charactersOf(text).reduce((sum, one) => sum + widthOfCharacter(one), 0);
}

/** As people count them: with their accents, and a family of emoji is one. */
function charactersOf(text: string): readonly string[] {
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

function widthOfCharacter(character: string): number {
  if (INVISIBLE.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

const SEGMENTER = new Intl.Segmenter();
const ASCII = /^[ -~]*$/;
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const WIDE =
  /^(?:[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|.\ufe0f)/u;
