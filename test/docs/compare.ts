/** On a page, `…` stands for anything. */
const ANYTHING = '…';

/**
 * Compares the output of a command with the ```http, ```json or ```text block below it.
 * @returns the first difference; null if there is none
 */
export function difference(language: string, expected: string, printed: string): string | null {
  if (language === 'http') return httpDifference(expected, printed);
  if (language === 'json') return jsonDifference(parseExample(expected), lastJson(printed));
  return textDifference(expected, printed);
}

/** Parses JSON in which `…` may stand for a value, further items or further fields. */
export function parseExample(text: string): unknown {
  let json = '';
  const open: string[] = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[^]/gu)) {
    if (token === '{' || token === '[') open.push(token);
    if (token === '}' || token === ']') open.pop();
    const isField = token === ANYTHING && open.at(-1) === '{' && /[{,]\s*$/.test(json);
    json += isField ? '"…":"…"' : token === ANYTHING ? '"…"' : token;
  }
  return JSON.parse(json) as unknown;
}

/** Each line must be printed, in order. Ids, times and `…` match anything. */
function textDifference(expected: string, printed: string): string | null {
  let rest = printed;
  for (const line of expected.split('\n').map((text) => text.trim())) {
    if (line === '' || line === ANYTHING) continue;
    const found = pattern(line).exec(rest);
    if (found === null) return `"${line}" was not printed`;
    rest = rest.slice(found.index + found[0].length);
  }
  return null;
}

function httpDifference(expected: string, printed: string): string | null {
  const [wanted, got] = [parseHttp(expected), parseHttp(printed)];
  if (wanted.statusLine !== got.statusLine) return `the status line is ${got.statusLine || 'missing'}`;
  const missing = wanted.headers.find((name) => !got.headers.includes(name));
  if (missing !== undefined) return `header ${missing} is missing`;
  return wanted.body === '' ? null : jsonDifference(parseExample(wanted.body), tryParse(got.body));
}

function parseHttp(text: string) {
  const responses = text.replaceAll('\r\n', '\n').split(/^(?=HTTP\/)/m);
  // Skips interim responses and redirects.
  const [head = '', ...body] = (responses.at(-1) ?? '').split('\n\n');
  const [statusLine = '', ...lines] = head.split('\n');
  const headers = lines.map((line) => (line.split(':')[0] ?? '').trim().toLowerCase());
  return {
    statusLine: statusLine.trim(),
    headers: headers.filter((name) => name !== ANYTHING),
    body: body.join('\n\n').trim(),
  };
}

/** The last JSON value in the output, on one or several lines. */
function lastJson(printed: string): unknown {
  const lines = printed.trim().split('\n');
  for (let from = 0; from < lines.length; from++) {
    const value = /^\s*[[{"\d]/.test(lines[from] ?? '') ? tryParse(lines.slice(from).join('\n')) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Expects the same fields with values of the same types, and the same `code` in problem documents. */
function jsonDifference(example: unknown, actual: unknown, where = 'the response'): string | null {
  const differs = `${where} is ${actual === undefined ? 'missing' : JSON.stringify(actual)}`;
  if (example === ANYTHING) return null;
  if (typeof example === 'string' && typeof actual === 'string' && example.includes(ANYTHING)) {
    return new RegExp(`^${pattern(example).source}$`, 'u').test(actual) ? null : differs;
  }
  if (Array.isArray(example) && Array.isArray(actual)) {
    if (example.includes(ANYTHING)) return null;
    if (example.length > 0 && actual.length === 0) return differs;
    const isLikeNone = (item: unknown) => example.every((one) => jsonDifference(one, item) !== null);
    return actual.some(isLikeNone) ? differs : null;
  }
  if (!isObject(example) || !isObject(actual)) return typeOf(example) === typeOf(actual) ? null : differs;
  const isProblem = String(example.type).startsWith('/errors/');
  if (isProblem && example.code !== actual.code) return `the code is ${String(actual.code)}`;
  for (const name of new Set([...Object.keys(example), ...Object.keys(actual)])) {
    if (name === ANYTHING || (ANYTHING in example && !(name in example))) continue;
    if (!(name in example)) return `${where} also has ${name}`;
    const found = jsonDifference(example[name], actual[name], `${where}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeOf(value) === 'object';
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

function pattern(text: string): RegExp {
  const variable =
    /…|\b[a-z]{2,5}_[0-7][0-9a-hjkmnp-tv-z]{25}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gu;
  const literal = text
    .split(variable)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replace(/\s+/g, '\\s+'));
  return new RegExp(literal.join('[^\\n]*?'), 'u');
}
