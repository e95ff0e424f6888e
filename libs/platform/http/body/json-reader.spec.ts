import fc from 'fast-check';
import { JsonReader } from './json-reader.js';

const NOTHING: ReadonlySet<string> = new Set();
/** With this one, nothing of an object is ignored. */
const ANYTHING = { has: () => true } as unknown as ReadonlySet<string>;

function read(text: string, fields = ANYTHING, nested = ANYTHING): { value: unknown; steps: number } {
  const reader = new JsonReader(text, fields, nested);
  let steps = 1;
  // In the shortest steps.
  while (!reader.read(0)) steps++;
  return { value: reader.value, steps };
}

/** What a parser makes of a text; `-0` and own fields with the name `__proto__` are values, too. */
const outcome = (parse: () => unknown) => {
  try {
    return { value: parse() };
  } catch {
    return 'invalid';
  }
};

const many = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_, n) => of(n)).join();

describe('JsonReader', () => {
  it.each(
    [
      ...['', ' ', '{', '}', '[', ']', '"', '{}', '[]', ' [ ] ', '{ }', '""', 'null', 'nul', 'nulll', 'true', 'false'],
      ...['0', '-0', '-', '+1', '01', '1.', '.1', '1.5', '1e5', '1E+5', '1e-5', '1e', '1e+', '0x1', '1_0', 'NaN'],
      ...['-Infinity', '1e999', '123456789012345678901234567890', '{}{}', '1 2', '[1 2]', '[1,]', '[,1]', '[1,,2]'],
      ...[
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{,"a":1}',
        '{"a":1 "b":2}',
        '{"a" 1}',
        '{a:1}',
        "{'a':1}",
        '{1:1}',
        '{"a"::1}',
      ],
      ...['{"a":1,"a":2}', '{"b":1,"a":2,"b":3}', '{"2":0,"1":0,"a":0}', '{"__proto__":{"a":1},"constructor":1}'],
      ...['{"__proto__":1,"__proto__":2}', '{"":1}', '[}', '{]', '[[]', '{"a":[}', '{"a":[1,{"b":[null]}],"c":"d"}'],
      ...['"a\nb"', '"a\tb"', '"\\n"', '"\\x"', '"\\u00e"', '"\\u00e9\\ud83d\\ude00"', '"\\ud800"', '"\\"', '"\\\\"'],
      ...[
        '"\\\\\\"',
        '"\\\\\\""',
        '"a" b',
        '\u00a0{}',
        '\ufeff{}',
        '\v{}',
        '\f{}',
        '{}\u0000',
        '/**/{}',
        '{}//',
        '\u2028{}',
      ],
      ...['"\u2028"', '"\u007f"', '"\u0000"', '[1]]', '[[[1]]]]', ' \r\n\t[ \r\n\t1 \r\n\t, \r\n\t2 \r\n\t] \r\n\t'],
    ].map((text) => [text]),
  )('reads %j as JSON.parse does', (text) => {
    expect(outcome(() => read(text).value)).toEqual(outcome(() => JSON.parse(text) as unknown));
  });

  it('reads any text as JSON.parse does, also one with a mistake', () => {
    const shallow = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value, null, 1));
    const mistaken = fc
      .tuple(shallow, fc.nat(), fc.nat(2), fc.constantFrom('', '"', '\\', ',', ':', '{', '}', '[', ']', '1', '-', ' '))
      .map(([text, at, removed, added]) => {
        const position = at % (text.length + 1);
        return text.slice(0, position) + added + text.slice(position + removed);
      });
    fc.assert(
      fc.property(fc.oneof(shallow, mistaken), (text) => {
        expect(outcome(() => read(text).value)).toEqual(outcome(() => JSON.parse(text) as unknown));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each<[string, string, unknown]>([
    ['names of the body', `{${many(50_000, (n) => `"n${n}":0`)},"list":[1],"n1":{}}`, { list: [1] }],
    ['values of unknown fields', `{"a":[${many(50_000, (n) => `{"${n}":"${n}"}`)}],"list":1}`, { list: 1 }],
    ['arrays in one another', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)},"list":1}`, { list: 1 }],
    [
      'arrays in one another in a field',
      `{"list":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      { list: [[[[[[]]]]]] },
    ],
  ])('reads very many %s in small steps, and keeps none of them', (_what, text, kept) => {
    const { value, steps } = read(text, new Set(['list']), NOTHING);
    expect(value).toEqual(kept);
    expect(steps).toBeGreaterThan(1_000);
  });

  it('keeps more names of a nested object than any field may have, and those of fields wherever they are', () => {
    const names = many(50_000, (n) => `"n${n}":"${n}"`);
    const text = `{"list":[{"first":1,${names},"n7":"last","field":{"a":2}}]}`;
    const { list } = read(text, new Set(['list']), new Set(['field'])).value as { list: Record<string, unknown>[] };
    const [item = {}] = list;
    expect(item).toMatchObject({ first: 1, n7: 'last', field: { a: 2 } });
    expect(Object.keys(item)).toHaveLength(101);
  });

  it.each([
    '{"a":[1,2',
    `{"a":${'['.repeat(100_000)}`,
    `{"a":${'['.repeat(100_000)}]}`,
    '{"a":tru}',
    '{"a":"\\x"}',
    '{"a":"\n"}',
  ])('refuses what is ignored if it is not JSON: %.12s', (text) => {
    expect(() => read(text, NOTHING, NOTHING)).toThrow(SyntaxError);
  });
});
