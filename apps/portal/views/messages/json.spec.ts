import { prettyJson } from './json.js';

const shown = (text: string) =>
  prettyJson(text)
    ?.map((token) => token.text)
    .join('');

describe('A text on indented lines', () => {
  it.each([
    '{}',
    '[]',
    ' [ ] ',
    '{"a":{"b":[]},"c":[[1,-2.5e+10],"x:y,{}"]}',
    '[12345678901234567890,0.10,1E5]',
    '{"a":1,"a":2}',
    '["\\"","\\\\","\\u202e","\\n"]',
    '{"__proto__":null,"":false}',
  ])('has the values of %s', (text) => {
    expect(shown(text)?.replaceAll(/\n\s*|(?<=[\]\d":el}]): /g, (part) => part.trim())).toBe(text.replaceAll(' ', ''));
    expect(JSON.parse(shown(text) ?? '')).toEqual(JSON.parse(text));
  });

  it('tells names from values', () => {
    expect(prettyJson('{"a":"b","c":[1,true]}')?.filter(({ kind }) => kind !== 'plain')).toEqual([
      { kind: 'name', text: '"a"' },
      { kind: 'string', text: '"b"' },
      { kind: 'name', text: '"c"' },
      { kind: 'number', text: '1' },
      { kind: 'word', text: 'true' },
    ]);
  });

  it.each(['', 'hello', '12', '"text"', 'null', '{', '{"a":1}x', '[1,]', `[${'1,'.repeat(40_000)}1]`])(
    'is not made of %.20s',
    (text) => {
      expect(prettyJson(text)).toBeNull();
    },
  );

  it('stays short however deep it is nested', () => {
    const text = `${'['.repeat(2_000)}1${']'.repeat(2_000)}`;
    expect(shown(text)?.length).toBeLessThan(100 * text.length);
  });
});
