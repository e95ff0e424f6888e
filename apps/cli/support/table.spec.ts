import { MESSAGE_COLUMNS } from './messages.js';
import { columnsOf, tableOf, type Column } from './table.js';

const NOW = new Date('2026-11-21T09:30:00Z');
const ID = 'msg_01m7z3xhqzeywbegcvm7ee64q0';
const TEXT = 'Order 4711 is paid, and the invoice was sent';

interface Row {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string;
  readonly attempts: number;
  readonly type?: string;
  readonly message: string;
}

const row = (more: Partial<Row> = {}): Row => {
  return { id: ID, status: 'processing', createdAt: '2026-11-21T09:25:00Z', attempts: 1, message: TEXT, ...more };
};
const table = (columns: number, ...rows: Row[]): string[] => {
  const options = { columns, hasHeading: true, visible: String, paint: (_: unknown, text: string) => text };
  const text = tableOf(rows, MESSAGE_COLUMNS as unknown as readonly Column<Row>[], options);
  return text.split('\n').map((line) => line.trimEnd());
};

describe('The list of messages', () => {
  beforeAll(() => {
    jest.useFakeTimers({ now: NOW });
  });
  afterAll(() => {
    jest.useRealTimers();
  });

  it.each([
    [160, ['ID', 'STATUS', 'AGE', 'ATTEMPTS', 'TYPE', 'MESSAGE'], 'order.paid'],
    [160, ['ID', 'STATUS', 'AGE', 'ATTEMPTS', 'MESSAGE'], undefined],
    [90, ['ID', 'STATUS', 'AGE', 'ATTEMPTS', 'MESSAGE'], 'order.paid'],
    [80, ['ID', 'STATUS', 'AGE', 'MESSAGE'], 'order.paid'],
    [60, ['ID', 'STATUS', 'AGE', 'ATTEMPTS'], 'order.paid'],
    [50, ['ID', 'STATUS', 'AGE'], 'order.paid'],
  ])('has in %d columns what fits: %j', (columns, headings, type) => {
    const lines = table(columns, row({ ...(type !== undefined && { type }) }), row({ message: 'short' }));
    expect(lines[0]?.split(/ +/)).toEqual(headings);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines.join('\n')).toContain(TEXT.slice(0, 23));
  });

  it('has a message on a line of its own where it would be cut to less than a few words', () => {
    expect(table(60, row(), row({ message: 'x'.repeat(100) }))).toEqual([
      'ID                              STATUS      AGE  ATTEMPTS',
      `${ID}  processing  5m   1`,
      `  ${TEXT}`,
      `${ID}  processing  5m   1`,
      `  ${'x'.repeat(57)}…`,
    ]);
  });

  it.each([
    ['漢字かなカナ한글、。', 20],
    ['ｆｕｌｌ　width', 15],
    ['👩‍👩‍👧 🇩🇪 ❤️ ok', 11],
    ['e\u0301a\u0308 Grüße …', 10],
  ])('cuts %j where it would be wider than the terminal: it takes %i columns', (text, width) => {
    expect(columnsOf(text)).toBe(width);
    const [, , line = ''] = table(60, row({ message: `${text} `.repeat(20) }));
    expect([line.at(-1), columnsOf(line) > 57, columnsOf(line) <= 60]).toEqual(['…', true, true]);
    const types = [text, 'x'].map((type) => row({ type, message: 'end' }));
    for (const line of table(160, ...types).slice(1))
      expect(columnsOf(line)).toBe(columnsOf(table(160, ...types)[1] ?? ''));
  });

  it('keeps short messages beside the rest', () => {
    expect(table(60, row({ message: 'hello' }))).toEqual([
      'ID                              STATUS      AGE  MESSAGE',
      `${ID}  processing  5m   hello`,
    ]);
  });

  it.each([
    ['2026-11-21T09:30:10Z', '0s'],
    ['2026-11-21T09:29:01Z', '59s'],
    ['2026-11-21T08:30:01Z', '59m'],
    ['2026-11-19T09:30:01Z', '47h'],
    ['2026-10-12T09:30:00Z', '40d'],
  ])('says how old a message is: %s is %s', (createdAt, age) => {
    expect(table(120, row({ createdAt }))[1]?.split(/ +/)[2]).toBe(age);
  });
});
