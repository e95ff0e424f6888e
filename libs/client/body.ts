/** A page of a list has at most 25 MB. The response to a batch repeats its messages. */
const MAX_PAGE_LENGTH = 30_000_000;

/**
 * JSON writes null for what is no time and no number, and null means "now", "all" or "never"; for a `Map`, `{}`.
 * @throws RangeError and TypeError
 */
export function jsonOf(body: unknown): string {
  return JSON.stringify(body, function (this: Record<string, unknown>, name, value: unknown) {
    if (value === null ? this[name] !== null : typeof value === 'number' && !Number.isFinite(value))
      throw new RangeError(`${name} is not a valid time or number.`);
    if (typeof value === 'object' && Symbol.iterator in Object(value) && !Array.isArray(value))
      throw new TypeError(`${name} is not an array or a plain object.`);
    return value;
  });
}

/**
 * The text of a response. What is not from Sluice may have no end, or become long only when it is decompressed.
 * @param sent the body of the request
 * @returns null if it is too long, and the rest is not read
 */
export async function textOf(response: Response, sent: string | null): Promise<string | null> {
  const { body } = response;
  // Not every `fetch` has streams.
  if (body?.getReader === undefined) return response.text();
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  do {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  } while (text.length <= MAX_PAGE_LENGTH + (sent?.length ?? 0));
  reader.cancel().catch(() => undefined);
  return null;
}

/**
 * What a text of JSON has: an object with at least one field.
 * @param field a field that it has; `data` is a list of objects
 * @throws for any other text
 */
export function objectIn(text: string, field?: string | null): unknown {
  const object = JSON.parse(text) as Record<string, unknown>;
  const part = field ? object[field] : object;
  const isRight = field === 'data' ? (part as unknown[]).every((one) => Object(one) === one) : part != null;
  if (isRight && /^\s*{\s*"/.test(text)) return object;
  throw new TypeError('It lacks what a result has.');
}
