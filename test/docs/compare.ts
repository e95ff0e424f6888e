/** On a page, `…` stands for anything. */
const ANYTHING = '…';

/**
 * Compares the output of a command with the ```http, ```json or ```text block below it.
 * @returns a list of differences
 */
export function differences(language: string, expected: string, printed: string): string[] {
  if (language === 'http') return httpDifferences(expected, printed);
  if (language === 'json') return jsonDifferences(parseExample(expected), lastJson(printed), 'the response');
  return textDifferences(expected, printed);
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
function textDifferences(expected: string, printed: string): string[] {
  let rest = printed;
  for (const line of expected.split('\n').map((text) => text.trim())) {
    if (line === '' || line === ANYTHING) continue;
    const found = pattern(line).exec(rest);
    if (found === null) return [`"${line}" was not printed`];
    rest = rest.slice(found.index + found[0].length);
  }
  return [];
}

function httpDifferences(expected: string, printed: string): string[] {
  const [wanted, got] = [parseHttp(expected), parseHttp(printed)];
  const status = wanted.statusLine === got.statusLine ? [] : [`the status line is ${got.statusLine || 'missing'}`];
  const missing = wanted.headers
    .filter((name) => !got.headers.includes(name))
    .map((name) => `header ${name} is missing`);
  const body = wanted.body === '' ? [] : jsonDifferences(parseExample(wanted.body), tryParse(got.body), 'the response');
  return [...status, ...missing, ...body];
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
function jsonDifferences(expected: unknown, actual: unknown, where: string): string[] {
  if (expected === ANYTHING) return [];
  if (Array.isArray(expected) && Array.isArray(actual)) return listDifferences(expected, actual, where);
  if (isObject(expected) && isObject(actual)) return fieldDifferences(expected, actual, where);
  const matches =
    typeof expected === 'string' && typeof actual === 'string' && expected.includes(ANYTHING)
      ? new RegExp(`^${pattern(expected).source}$`, 'u').test(actual)
      : typeOf(expected) === typeOf(actual);
  return matches ? [] : [`${where} is ${actual === undefined ? 'not JSON' : JSON.stringify(actual)}`];
}

function listDifferences(expected: readonly unknown[], actual: readonly unknown[], where: string): string[] {
  if (expected.includes(ANYTHING)) return [];
  if (expected.length > 0 && actual.length === 0) return [`${where} is empty`];
  return actual.flatMap((item, index) => {
    const candidates = expected.map((candidate) => jsonDifferences(candidate, item, `${where}[${index}]`));
    return candidates.some((found) => found.length === 0) ? [] : (candidates[0] ?? [`${where} is not empty`]);
  });
}

function fieldDifferences(
  expected: Readonly<Record<string, unknown>>,
  actual: Readonly<Record<string, unknown>>,
  where: string,
): string[] {
  const additional = ANYTHING in expected ? [] : Object.keys(actual).filter((name) => !(name in expected));
  const different = Object.entries(expected)
    .filter(([name]) => name !== ANYTHING)
    .flatMap(([name, value]) =>
      name in actual ? jsonDifferences(value, actual[name], `${where}.${name}`) : [`${where} has no ${name}`],
    );
  const isProblem = String(expected.type).startsWith('/errors/') && actual.code !== expected.code;
  return [
    ...additional.map((name) => `${where} also has ${name}`),
    ...different,
    ...(isProblem ? [`the code is ${String(actual.code)}`] : []),
  ];
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
