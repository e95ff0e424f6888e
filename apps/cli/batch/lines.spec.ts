import { chunksOf, parseLine, readLines, type Line } from './lines.js';

const MAX_BYTES = 262_144;

/** An input that arrives in pieces of so many bytes. */
async function* piecesOf(input: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < input.length; at += size) yield await Promise.resolve(input.subarray(at, at + size));
}

async function linesOf(input: string | Buffer, size = Infinity): Promise<Line[]> {
  const lines: Line[] = [];
  const bytes = Buffer.from(input);
  for await (const line of readLines(piecesOf(bytes, Math.min(size, bytes.length)))) lines.push(line);
  return lines;
}

describe('The lines of an input', () => {
  it.each(['"a"', '\ufeff"a"', '{"message":"a"}', '\ufeff{"message":"a"}'])(
    'may begin with a byte order mark as JSON: %j',
    (text) => {
      expect(parseLine(text, 1)).toEqual({ message: 'a' });
    },
  );

  it.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\r\nb\r\n', ['a', 'b']],
    ['\n\na', ['', '', 'a']],
    ['a\rb\n', ['a\rb']],
    ['a\r\r\n', ['a\r']],
    ['x\u2028y\u0085z\n', ['x\u2028y\u0085z']],
    ['\ufeffa\n', ['\ufeffa']],
    ['日本\n👍', ['日本', '👍']],
  ])('end with LF or CRLF, however they arrive: %j', async (input, texts) => {
    for (const size of [1, 2, 3, Infinity]) {
      const lines = await linesOf(input, size);
      expect(lines.map(({ text }) => text)).toEqual(texts);
      expect(lines.map(({ number }) => number)).toEqual(texts.map((_text, index) => index + 1));
      if (lines.length > 0) expect(lines.at(-1)?.end).toBe(Buffer.byteLength(input));
    }
  });

  it.each([[[0xff]], [[0xc3]], [[0xed, 0xa0, 0x80]], [[0xc0, 0x80]]])(
    'must be UTF-8, without a replacement: %j',
    async (bytes) => {
      const input = Buffer.concat([Buffer.from('a\n'), Buffer.from(bytes), Buffer.from('\nc')]);
      await expect(linesOf(input, 1)).rejects.toThrow('Line 2 is not valid UTF-8.');
    },
  );

  it('have at most as many bytes as a message, and one that never ends is not kept', async () => {
    const longest = 'x'.repeat(MAX_BYTES);
    expect((await linesOf(`${longest}\r\n${longest}`)).map(({ text }) => text.length)).toEqual([MAX_BYTES, MAX_BYTES]);
    await expect(linesOf(`a\n${longest}x\n`)).rejects.toThrow(`Line 2 has more than ${MAX_BYTES} bytes.`);
    let read = 0;
    const endless = async function* () {
      for (; read < 100; read++) yield await Promise.resolve(Buffer.alloc(65_536, 'x'));
      throw new Error('All of it was read.');
    };
    await expect(readLines(endless()).next()).rejects.toThrow('Line 1 has more than');
    expect(read).toBeLessThan(10);
  });
});

describe('The lines of a request', () => {
  async function* given(texts: readonly string[]): AsyncGenerator<Line> {
    for (const [index, text] of texts.entries()) {
      yield await Promise.resolve({ number: index + 1, text, end: (index + 1) * 10 });
    }
  }
  const chunks = async (texts: readonly string[], size: number) => {
    const all = [];
    for await (const chunk of chunksOf(given(texts), size)) all.push(chunk);
    return all;
  };

  it('are as many as were chosen, without empty ones', async () => {
    const found = await chunks(['a', '', 'b', 'c', '', 'd', 'e'], 2);
    expect(found.map(({ messages }) => messages)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(found.map(({ firstLine, lastLine, numbers, end }) => [firstLine, lastLine, numbers, end])).toEqual([
      [1, 3, [1, 3], 30],
      [4, 6, [4, 6], 60],
      [7, 7, [7], 70],
    ]);
    expect(await chunks(['', ''], 2)).toEqual([]);
  });

  it.each(['x', '"', '\u0001', '日'])('fit into a body that the service accepts: many of %j', async (character) => {
    const text = character.repeat(Math.floor(MAX_BYTES / Buffer.byteLength(character)));
    const found = await chunks(Array<string>(9).fill(text), 1_000);
    expect(found.flatMap(({ messages }) => messages)).toHaveLength(9);
    for (const { messages } of found.filter((chunk) => chunk.messages.length > 1)) {
      const body = JSON.stringify({ messages: messages.map((message) => ({ message })) });
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(1_048_576);
    }
  });
});
