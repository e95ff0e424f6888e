/** An answer as it stood on the wire. */
export interface Said {
  readonly status: number;
  /** In their order and spelling. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The last of the answers in what a server said; interim ones come before it. */
export function lastOf(said: string): Said {
  const start = said.lastIndexOf('HTTP/1.1 ');
  const [statusLine = '', ...lines] = (said.slice(start).split('\r\n\r\n')[0] ?? '').split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  return { status: Number(statusLine.split(' ')[1]), headers };
}

/** All values under this name, whatever its case. */
export function valuesOf({ headers }: Said, name: string): string[] {
  return headers.filter(([other]) => other.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

const NUMBER = /^\d+$/;
const ITEM = '"(minute|day|signup)"';

/** What each answer has, and in which form. */
const FORMS: readonly (readonly [string, RegExp])[] = [
  ['X-RateLimit-Limit', NUMBER],
  ['X-RateLimit-Remaining', NUMBER],
  ['X-RateLimit-Reset', NUMBER],
  ['RateLimit-Policy', new RegExp(`^${ITEM};q=\\d+;w=\\d+(, ${ITEM};q=\\d+;w=\\d+)?$`)],
  ['RateLimit', new RegExp(`^${ITEM};r=\\d+;t=[1-9]\\d*(, ${ITEM};r=\\d+;t=[1-9]\\d*)?$`)],
  ['X-Request-Id', /^[A-Za-z0-9._-]{1,128}$/],
  ['Cache-Control', /^no-store$/],
  ['X-Content-Type-Options', /^nosniff$/],
];

/** Fails unless the answer has every header that all answers have: once, in its form, the X- ones in their spelling. */
export function expectEveryHeader(said: Said, sentAt: number): void {
  for (const [name, form] of FORMS) {
    expect([name, valuesOf(said, name)]).toEqual([name, [expect.stringMatching(form)]]);
    if (name.startsWith('X-')) expect(said.headers.map(([spelled]) => spelled)).toContain(name);
  }
  expect(Number(valuesOf(said, 'X-RateLimit-Reset')[0])).toBeGreaterThan(sentAt / 1_000);
  const type = said.status < 300 ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8';
  expect(valuesOf(said, 'Content-Type')).toEqual(said.status === 204 ? [] : [type]);
}

/** The names of the windows that an answer tells of. */
export function windowsOf(said: Said): string {
  return [...(valuesOf(said, 'RateLimit')[0] ?? '').matchAll(/"(\w+)"/g)].map(([, name]) => name).join(' ');
}
