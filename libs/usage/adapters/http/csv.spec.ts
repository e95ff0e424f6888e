import { toCsv } from './csv.js';

const valueOf = (value: unknown) =>
  toCsv(['a'], [{ a: value }])
    .split('\r\n')
    .slice(1, -1)
    .join('\r\n');

describe('A value in CSV', () => {
  it.each([
    ['plain', 'plain'],
    ['', ''],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['a\nb', '"a\nb"'],
    ['a\r\nb', '"a\r\nb"'],
    ['a;b', 'a;b'],
    [null, ''],
    [0, '0'],
    [-1, '-1'],
    [9_007_199_254_740_991, '9007199254740991'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
  ])('of %j is %j', (value, text) => {
    expect(valueOf(value)).toBe(text);
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ['a=1', 'a=1'],
  ])('is no formula: %j is %j', (value, text) => {
    expect(valueOf(value)).toBe(text);
  });
});
