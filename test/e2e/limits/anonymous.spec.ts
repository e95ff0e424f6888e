import { exchange, lines, onTheWire } from '../../support/http.js';
import { kindOf, numberIn, REFUSED, shown } from '../../support/limits.js';
import { OPERATOR, ownApi, sharedApi, type Key } from '../../support/api.js';

const LIMIT = 5;

describe('Requests without a valid API key', () => {
  const api = ownApi({ ANONYMOUS_PER_MINUTE: String(LIMIT), TRUST_PROXY: '127.0.0.1' });
  let addresses = 0;
  let address: string;
  beforeEach(() => {
    address = `192.0.2.${++addresses}`;
  });

  const from = (forwardedFor: string, by: Key | null = null, route = 'GET /account') =>
    api.ask(by, route, undefined, { 'x-forwarded-for': forwardedFor });
  const ask = (path: string, method = 'GET') => from(address, null, `${method} ${path}`);
  const useUp = async () => {
    for (let count = 0; count < LIMIT; count++) await ask('/unknown');
  };

  it('are counted by their address, in a window of a minute that starts with the first', async () => {
    const responses = [await ask('/unknown'), await ask('/account'), await ask('/messages', 'OPTIONS')];

    expect(responses.map(kindOf)).toEqual(['404 not_found', '401 unauthorized', '204']);
    expect(responses.map((response) => shown(response).remaining)).toEqual([4, 3, 2]);
    for (const response of responses) {
      expect(response.headers['ratelimit-policy']).toBe('"minute";q=5;w=60');
      expect(response.headers.ratelimit).toMatch(/^"minute";r=[2-4];t=(60|5\d)$/);
      expect(shown(response).limit).toBe(LIMIT);
      expect(shown(response).resetsIn).toBeGreaterThan(50);
      expect(shown(response).resetsIn).toBeLessThanOrEqual(61);
    }
  });

  it.each([
    ['an unknown path', 'GET', '/unknown'],
    ['a wrong method', 'DELETE', '/messages'],
    ['OPTIONS', 'OPTIONS', '/messages'],
    ['a route for accounts', 'GET', '/account'],
    ['a public route', 'POST', '/accounts'],
    ['a route for operators', 'GET', '/admin/accounts'],
  ])('are refused with 429 when too many: %s', async (_name, method, path) => {
    await useUp();
    const response = await ask(path, method);

    expect(kindOf(response)).toBe(REFUSED);
    expect(response.body.detail).toMatch(/^The requests of your address are used up\. Retry after (60|5\d) s\.$/);
    expect(shown(response)).toMatchObject({ limit: LIMIT, remaining: 0 });
    expect(Math.abs(shown(response).resetsIn - numberIn(response, 'retry-after'))).toBeLessThan(10);
  });

  it('are refused as well with a key that is unknown, malformed or revoked', async () => {
    const holder = await api.signUp('free');
    await api.ask(holder, `DELETE /api-keys/${holder.keyId}`);
    await useUp();
    for (const key of ['wrong', `slc_${'0'.repeat(40)}`, holder.key]) {
      expect(kindOf(await from(address, key))).toBe(REFUSED);
    }
  });

  it('do not count for those with a valid key, nor the other way round', async () => {
    const holder = await api.signUp('free');
    for (let count = 0; count < 2 * LIMIT; count++) expect((await from(address, holder)).status).toBe(200);
    expect(shown(await ask('/unknown')).remaining).toBe(LIMIT - 1);

    await useUp();
    expect(shown(await from(address, holder))).toMatchObject({ limit: 60, remaining: 49 });
  });

  it.each([
    ['with ports', [1, 2, 3, 4, 5].map((last) => `203.0.113.7:5123${last}`), '203.0.113.7'],
    ['in brackets', [1, 2, 3, 4, 5].map((last) => `[2001:db8::1]:5123${last}`), '2001:DB8:0::2'],
    [
      'of IPv4 in IPv6',
      ['::ffff:203.0.113.8', '[::FFFF:cb00:7108]', '"203.0.113.8"', '203.0.113.8:1', ' 203.0.113.8 '],
      '203.0.113.8',
    ],
  ])('are counted together for addresses %s', async (_name, spellings, last) => {
    for (const spelling of spellings) expect(kindOf(await from(spelling))).toBe('401 unauthorized');
    expect(kindOf(await from(last))).toBe(REFUSED);
  });

  it('are counted by the address that the proxy adds, not by those that the client sends', async () => {
    await useUp();
    expect(kindOf(await from(`203.0.113.7, ${address}`))).toBe(REFUSED);
  });

  it.each([
    ['an unknown expectation', 'GET /account HTTP/1.1', 'Expect: miracles'],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1', 'Accept: */*'],
    ['two Host headers', 'GET /account HTTP/1.1', 'Host: sluice'],
    ['an invalid chunk', 'POST /accounts HTTP/1.1', 'Transfer-Encoding: chunked\r\n\r\nz'],
  ])('are counted by that address with %s as well', async (_name, line, header) => {
    const text = lines(line, 'Host: sluice', `X-Forwarded-For: ${address}`, header);
    expect(kindOf(await exchange(api.url, text))).toBe('400 malformed_request');
    expect(shown(await ask('/unknown')).remaining).toBe(LIMIT - 2);
  });

  it('are not those with a valid key whose body is invalid', async () => {
    const holder = await api.signUp('free');
    await from(address, holder);
    const key = `Authorization: Bearer ${holder.key}`;
    const chunk = 'Transfer-Encoding: chunked\r\n\r\nz';
    const text = lines('POST /messages HTTP/1.1', 'Host: sluice', `X-Forwarded-For: ${address}`, key, chunk);
    expect(kindOf(await exchange(api.url, text))).toBe('400 malformed_request');
    expect(shown(await ask('/unknown')).remaining).toBe(LIMIT - 1);
    expect(shown(await from(address, holder)).remaining).toBe(57);
  });

  it('are also counted if they cannot be parsed', async () => {
    const [first, second] = [await exchange(api.url, 'nonsense\r\n\r\n'), await exchange(api.url, 'more\r\n\r\n')];
    expect([first, second].map(kindOf)).toEqual(Array(2).fill('400 malformed_request'));
    expect(shown(second).remaining).toBe(shown(first).remaining - 1);
  });
});

describe('Requests of operators', () => {
  const api = ownApi({ ANONYMOUS_PER_MINUTE: String(LIMIT) });

  it('count in a window of their own, 6,000 a minute, and are refused after those', async () => {
    const first = await api.ask(OPERATOR, 'GET /admin/accounts');
    const second = await api.ask(OPERATOR, 'GET /unknown');
    expect([first, second].map(kindOf)).toEqual(['200', '404 not_found']);
    expect([first, second].map((response) => shown(response).remaining)).toEqual([5_999, 5_998]);
    expect(first.headers['ratelimit-policy']).toBe('"minute";q=6000;w=60');
    expect(shown(await api.ask(null))).toMatchObject({ limit: LIMIT, remaining: LIMIT - 1 });

    const head = ['HEAD /unknown HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${OPERATOR.key}`];
    let received = '';
    // As many as a connection may pipeline, until all 5,998 are used and one more.
    for (const count of [...Array<number>(187).fill(32), 15]) {
      const rest = Array.from({ length: count - 1 }, () => [...head, '']).flat();
      received += await onTheWire(api.url, lines(...rest, ...head, 'Connection: close'));
    }
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);

    expect(statuses).toEqual([...Array<string>(5_998).fill('404'), '429']);
    expect(received.slice(received.lastIndexOf('HTTP/1.1 429'))).toMatch(/^Retry-After: \d+\r$/im);
  });
});

describe('X-Forwarded-For', () => {
  const other = sharedApi();

  it.each([
    ['without TRUST_PROXY', 'off'],
    ['from a peer that is not in TRUST_PROXY', '10.0.0.0/8,192.0.2.1'],
  ])('is ignored %s', async (_name, proxies) => {
    const api = await other.join({ ANONYMOUS_PER_MINUTE: '1000', TRUST_PROXY: proxies });
    const remaining: number[] = [];
    for (const last of [1, 2, 3]) {
      const headers = { 'x-forwarded-for': `198.51.100.${last}` };
      remaining.push(shown(await api.ask('wrong', 'GET /account', undefined, headers)).remaining);
    }

    expect(remaining).toEqual([999, 998, 997]);
  });
});
