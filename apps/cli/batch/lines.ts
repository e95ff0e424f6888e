import { CliError } from '../support/exit-codes.js';

/** The largest message, in bytes of UTF-8. */
export const MAX_TEXT_BYTES = 262_144;
/** The largest one as JSON, with escapes and other fields: larger ones do not fit into a request. */
export const MAX_JSON_BYTES = 900 * 1_024;

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** The position after this line in the input, in bytes. */
  readonly end: number;
}

/**
 * The lines of UTF-8 text, one at a time: of an input of any length only a chunk and a line are in memory. Lines end with
 * LF or CRLF; node:readline would also split a message at U+2028, and keep a line of any length.
 * @throws CliError for a line that has more bytes, or is not UTF-8
 */
export async function* readLines(input: AsyncIterable<Buffer>, maxBytes = MAX_TEXT_BYTES): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let number = 0;
  let position = 0;
  let rest: Buffer = Buffer.alloc(0);
  const line = (bytes: Buffer, length: number): Line => {
    number++;
    position += length;
    const content = bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes;
    if (content.length > maxBytes) throw tooLong(number, maxBytes);
    try {
      return { number, text: decoder.decode(content), end: position };
    } catch {
      throw new CliError(`Line ${number} is not valid UTF-8.`);
    }
  };
  for await (const chunk of input) {
    let buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = buffer.indexOf(0x0a); end >= 0; end = buffer.indexOf(0x0a)) {
      yield line(buffer.subarray(0, end), end + 1);
      buffer = buffer.subarray(end + 1);
    }
    // The CR of a CRLF may come with the next chunk.
    if (buffer.length > maxBytes + 1) throw tooLong(number + 1, maxBytes);
    rest = buffer;
  }
  if (rest.length > 0) yield line(rest, rest.length);
}

function tooLong(line: number, maxBytes: number): CliError {
  return new CliError(`Line ${line} has more than ${maxBytes} bytes.`);
}

/**
 * A line of JSON: the text of a message, or its fields, which the service checks.
 * @throws CliError for a line that is neither
 */
export function parseLine(text: string, number = 0): { message: string } {
  let value: unknown;
  try {
    // Editors on Windows begin a file with a byte order mark.
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw new CliError(`Line ${number} is not JSON.`);
  }
  if (typeof value === 'string') return { message: value };
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject && typeof (value as { message?: unknown }).message === 'string') return value as { message: string };
  throw new CliError(`Line ${number} must be a string, or an object with the field message.`);
}

/** Lines that are sent in one request. */
export interface Chunk {
  readonly firstLine: number;
  readonly lastLine: number;
  readonly messages: readonly string[];
  /** The number of the line of each message. */
  readonly numbers: readonly number[];
  readonly end: number;
}

/** The size of a request's body, of which the service accepts 1 MiB with JSON's escapes. */
const MAX_CHUNK_BYTES = 900 * 1_024;

/**
 * Groups lines. Empty lines are left out: a message has at least one byte. Where a chunk ends depends only on its lines
 * and these parameters, so that a repetition sends the same requests.
 * @param fieldBytes what the fields of each message take besides its line
 */
export async function* chunksOf(lines: AsyncIterable<Line>, size: number, fieldBytes = 0): AsyncGenerator<Chunk> {
  let taken: Line[] = [];
  let total = 0;
  const chunk = (): Chunk => {
    const [first, last] = [taken[0], taken.at(-1)];
    return {
      firstLine: first?.number ?? 0,
      lastLine: last?.number ?? 0,
      messages: taken.map(({ text }) => text),
      numbers: taken.map(({ number }) => number),
      end: last?.end ?? 0,
    };
  };
  for await (const line of lines) {
    if (line.text === '') continue;
    const length = Buffer.byteLength(JSON.stringify(line.text)) + fieldBytes + 16;
    if (taken.length === size || (taken.length > 0 && total + length > MAX_CHUNK_BYTES)) {
      yield chunk();
      [taken, total] = [[], 0];
    }
    taken.push(line);
    total += length;
  }
  if (taken.length > 0) yield chunk();
}
