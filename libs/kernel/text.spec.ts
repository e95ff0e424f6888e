import { toPlainLine } from './text.js';

const all = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index));

describe('A plain line', () => {
  it.each([
    ['C0 controls', [...all(0x01, 0x08), ...all(0x0e, 0x1f)]],
    ['DEL and C1 controls', all(0x7f, 0x9f).filter((one) => one !== '\u0085')],
    ['bidirectional controls', ['\u061c', '\u200e', '\u200f', ...all(0x202a, 0x202e), ...all(0x2066, 0x2069)]],
    ['tags and further selectors of variants', all(0xe0000, 0xe0fff)],
    ['fillers', ['\u115f', '\u1160', '\u3164', '\uffa0', '\u17b4', '\u17b5']],
    ['other characters without width', ['\u00ad', '\u034f', '\u180e', '\u200b', ...all(0x2060, 0x2064), '\ufeff']],
    ['annotations', all(0xfff9, 0xfffb)],
  ])('has U+FFFD for %s', (_name, characters) => {
    for (const character of characters) expect(toPlainLine(`a${character}b`, 9)).toBe('a\ufffdb');
  });

  it.each(['\n', '\r\n', '\r', '\t', '\v', '\f', '\u0085', '\u2028', '\u2029'])('has a space for %j', (separator) => {
    expect(toPlainLine(`a${separator}b`, 9)).toBe('a b');
  });

  it.each(['no such address', 'Ä 💌 👩‍👩‍👧 العربية עברית ไทย', '<b>&"\'\\', '\u00a0\u200c\u200d', '❤\ufe0f'])(
    'keeps %j',
    (text) => {
      expect(toPlainLine(text, 100)).toBe(text);
    },
  );

  it.each([
    ['', ''],
    ['\u0000', ''],
    ['be\u0000fore', 'before'],
    ['x\ud83dx', 'x\ufffdx'],
    ['y'.repeat(99), 'y'.repeat(10)],
    [`${'z'.repeat(9)}💌💌`, `${'z'.repeat(9)}💌`],
    ['💌'.repeat(11), '💌'.repeat(10)],
    [`z${'💌'.repeat(11)}`, `z${'💌'.repeat(9)}`],
    ['\u001b[2K\u009b31mred\u202e', '\ufffd[2K\ufffd31mre'],
  ])('of %j is %j', (text, line) => {
    expect(toPlainLine(text, 10)).toBe(line);
  });
});
