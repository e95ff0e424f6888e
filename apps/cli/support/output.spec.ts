import { WriteStream } from 'node:tty';
import { Output } from './output.js';
import { visible } from './visible.js';

/** What others may have written: it would move the cursor, name the window, or look like another text. */
const HOSTILE: readonly (readonly [text: string, shown: string])[] = [
  ['\u001b[2J\u001b[31mred', String.raw`\u001b[2J\u001b[31mred`],
  ['\u001b]0;title\u0007', String.raw`\u001b]0;title\u0007`],
  ['\u009b1A', String.raw`\u009b1A`],
  ['a\r\nerror: b\tc', String.raw`a\r\nerror: b\tc`],
  ['\u0000\u007f\u0008', String.raw`\u0000\u007f\u0008`],
  ['\u2028\u2029', String.raw`\u2028\u2029`],
  ['a\u00ad\u034f\u200b\u115f\u3164\uffa0\u2061', String.raw`a\u00ad\u034f\u200b\u115f\u3164\uffa0\u2061`],
  ['\u{e0041}\u{e01ef}', String.raw`\udb40\udc41\udb40\uddef`],
  ['\u202egpj.exe\u2066\u2069', String.raw`\u202egpj.exe\u2066\u2069`],
];
const HARMLESS = ['Zoë', '日本語', '👍', '👩‍👧', '❤\ufe0f', 'می\u200cخواهم', 'שלום', '\\u001b'];

describe('Output', () => {
  let out = '';
  let err = '';

  beforeEach(() => {
    [out, err] = ['', ''];
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  });
  afterEach(() => jest.restoreAllMocks());

  const rowsOf = (...texts: string[]) => texts.map((text) => ({ text }));
  const columns = [['Text', ({ text }: { text: string }) => text] as const];

  it.each(HOSTILE)('shows %j as %s at any position', async (text, shown) => {
    expect(visible(text)).toBe(shown);
    const output = new Output(false);
    await output.list([rowsOf(text)], columns, 'none');
    output.line(output.fields({ name: text, share: { text } }));
    expect(out).toBe(`${shown}\nname\t${shown}\nshare\t${shown}\n`);
    for (const remark of ['note', 'success', 'warn', 'error'] as const) output[remark](`it: ${text}`);
    expect(err).not.toMatch(/[^\P{C}\n]/u);
  });

  it.each(HARMLESS)('shows %s as it is', (text) => {
    expect(visible(text)).toBe(text);
  });

  it.each([
    [[], '[]\n'],
    [[rowsOf()], '[]\n'],
    [[rowsOf('a')], '[\n{"text":"a"}\n]\n'],
    [[rowsOf('a', 'b'), rowsOf('c')], '[\n{"text":"a"},\n{"text":"b"},\n{"text":"c"}\n]\n'],
  ])('writes one array for all pages with --json: %j', async (pages, text) => {
    await new Output(true).list(pages, columns, 'none');
    expect([out, err]).toEqual([text, '']);
    expect(JSON.parse(out)).toEqual(pages.flat());
  });

  it('writes the note about an empty list to standard error', async () => {
    await new Output(false).list([], columns, 'There are none.');
    expect([out, err]).toEqual(['', 'There are none.\n']);
  });

  it.each<[NodeJS.ProcessEnv, { colours: boolean; sequences: boolean }]>([
    [{ TERM: 'xterm-256color' }, { colours: true, sequences: true }],
    [
      { TERM: 'xterm-256color', NO_COLOR: '1' },
      { colours: false, sequences: true },
    ],
    [{ TERM: 'dumb' }, { colours: false, sequences: false }],
    [
      { TERM: 'dumb', NO_COLOR: '1' },
      { colours: false, sequences: false },
    ],
  ])('obeys %j in a terminal', (variables, { colours, sequences }) => {
    // Node.js reads the environment of Jest itself.
    const hasColors = () => WriteStream.prototype.hasColors.call(WriteStream.prototype, 16, variables);
    const terminal = { isTTY: true, columns: 80, hasColors };
    const streams: object[] = [process.stdout, process.stderr];
    const restores = streams.map((stream) => {
      const before = Object.getOwnPropertyDescriptors(stream);
      Object.assign(stream, terminal);
      return () => {
        for (const name of Object.keys(terminal)) Reflect.deleteProperty(stream, name);
        Object.defineProperties(stream, before);
      };
    });
    const { TERM } = process.env;
    process.env.TERM = variables.TERM;
    try {
      const output = new Output(false);
      output.line(output.fields({ name: 'text' }));
      output.error('no');
      expect(out.includes('\u001b[')).toBe(colours);
      expect(err.includes('\u001b[')).toBe(colours);
      [out, err] = ['', ''];
      output.screen([], [], 'none');
      output.progress().show(0.5, 'half');
      expect(out !== '').toBe(sequences);
      expect(err.includes('\u001b[2K')).toBe(sequences);
    } finally {
      process.env.TERM = TERM;
      for (const restore of restores) restore();
    }
  });

  it.each([
    [24, 20, 20],
    [24, 30, 22],
    [3, 30, 1],
    [1, 30, 1],
    [undefined, 30, 30],
  ])('shows of a list in a terminal of %s lines, of %i rows, the first %i', (lines, rows, shown) => {
    const texts = Array.from({ length: rows }, (_, at) => `row ${at}`);
    const terminal = { isTTY: true, columns: 60, rows: lines };
    Object.assign(process.stdout, terminal);
    try {
      new Output(false).screen(rowsOf(...texts), columns, 'none');
    } finally {
      for (const name of Object.keys(terminal)) Reflect.deleteProperty(process.stdout, name);
    }
    expect(out.match(/row \d+/g)).toEqual(texts.slice(0, shown));
    // What was there before the command stays where the terminal keeps it.
    expect(out).not.toContain('\u001b[3J');
  });

  it('writes a result as a line of JSON with --json, else as text', () => {
    new Output(true).result({ id: 'msg_1' }, () => 'text');
    new Output(false).result({ id: 'msg_1' }, () => 'text');
    expect(out).toBe('{"id":"msg_1"}\ntext\n');
  });
});
