/** The head of a response, as it was sent. */
export interface WireResponse {
  readonly status: number;
  /** In their order and spelling. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The last response in what was received. */
export function lastOf(received: string): WireResponse {
  const start = received.lastIndexOf('HTTP/1.1 ');
  const [statusLine = '', ...lines] = (received.slice(start).split('\r\n\r\n')[0] ?? '').split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  return { status: Number(statusLine.split(' ')[1]), headers };
}

/** All values under this name, whatever its case. */
export function valuesOf({ headers }: WireResponse, name: string): string[] {
  return headers.filter(([other]) => other.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

const NUMBER = /^\d+$/;
const ITEM = '"(minute|day|signup)"';

/** The headers of every response, and their form. */
const FORMS: readonly (readonly [string, RegExp])[] = [
  ['X-RateLimit-Limit', NUMBER],
  ['X-RateLimit-Remaining', NUMBER],
  ['X-RateLimit-Reset', NUMBER],
  ['RateLimit-Policy', new RegExp(`^${ITEM};q=\\d+;w=\\d+(, ${ITEM};q=\\d+;w=\\d+)?$`)],
  ['RateLimit', new RegExp(`^${ITEM};r=\\d+;t=[1-9]\\d*(, ${ITEM};r=\\d+;t=[1-9]\\d*)?$`)],
  ['X-Request-Id', /^[A-Za-z0-9._-]{1,128}$/],
  ['Cache-Control', /^no-store$/],
  ['X-Content-Type-Options', /^nosniff$/],
  ['Date', /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/],
];

/** Fails unless the response has every header of all responses: once, in its form, the X- ones in their spelling. */
export function expectEveryHeader(response: WireResponse, sentAt: number): void {
  for (const [name, form] of FORMS) {
    expect([name, valuesOf(response, name)]).toEqual([name, [expect.stringMatching(form)]]);
    if (name.startsWith('X-')) expect(response.headers.map(([spelled]) => spelled)).toContain(name);
  }
  expect(Number(valuesOf(response, 'X-RateLimit-Reset')[0])).toBeGreaterThan(sentAt / 1_000);
  const type = response.status < 300 ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8';
  expect(valuesOf(response, 'Content-Type')).toEqual(response.status === 204 ? [] : [type]);
}

/** The names of the windows in a response. */
export function windowsOf(response: WireResponse): string {
  return [...(valuesOf(response, 'RateLimit')[0] ?? '').matchAll(/"(\w+)"/g)].map(([, name]) => name).join(' ');
}
