import { accountOf, expectProblem, OPERATOR, ownApi, sharedApi } from '../../support/api.js';
import { openApi, OPERATIONS } from '../../support/documented.js';
import { callUndocumented, type HttpResponse } from '../../support/http.js';

const ORIGIN = 'https://app.example.com';
const ALWAYS_EXPOSED = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'location', 'retry-after'];

/** For browsers and proxies; `Cache-Control` can always be read. */
const NOT_FOR_SCRIPTS =
  /^(Cache-Control|Content-Security-Policy|Referrer-Policy|X-(Content-Type|Frame)-Options|X-Accel-.*)$/;

const listed = (response: HttpResponse, name: string) => response.headers[name]?.toLowerCase().split(', ') ?? [];
const crossOrigin = (response: HttpResponse) =>
  Object.keys(response.headers).filter((name) => name === 'vary' || name.startsWith('access-control-'));

describe('Scripts of other origins, with CORS_ORIGINS', () => {
  const api = ownApi({ CORS_ORIGINS: `http://localhost:5173,${ORIGIN}`, ANONYMOUS_PER_MINUTE: '100' });
  const account = accountOf(api);

  const preflight = (origin: string) =>
    api.ask(null, 'OPTIONS /messages', undefined, {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,baggage,content-type,idempotency-key,traceparent,tracestate',
    });

  it.each([ORIGIN, 'http://localhost:5173'])('learn without a key what they may send: %s', async (origin) => {
    const response = await preflight(origin);

    expect(response.status).toBe(204);
    expect(response.headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' });
    expect(response.headers.allow).toContain('POST');
    expect(listed(response, 'access-control-allow-methods')).toEqual(['get', 'head', 'post', 'put', 'patch', 'delete']);
    expect(listed(response, 'access-control-allow-headers')).toEqual(
      expect.arrayContaining([
        ...['authorization', 'baggage', 'content-type', 'idempotency-key', 'traceparent', 'tracestate'],
      ]),
    );
    expect(Number(response.headers['access-control-max-age'])).toBeGreaterThan(60);
    expect(response.headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it('can read every header that the OpenAPI document has', async () => {
    const responses = OPERATIONS.flatMap((operation) => Object.values(operation.responses));
    const documented = new Set(
      [...responses, ...Object.values(openApi.components.responses)].flatMap(({ headers = {} }) =>
        Object.keys(headers),
      ),
    );
    expect([...documented]).toEqual(expect.arrayContaining(['Link', 'X-Request-Id', 'Retry-After']));
    const exposed = listed(await preflight(ORIGIN), 'access-control-expose-headers');
    const missing = [...documented].filter(
      (name) => !exposed.includes(name.toLowerCase()) && !NOT_FOR_SCRIPTS.test(name),
    );
    expect(missing).toEqual([]);
  });

  it.each(['/account/usage/history', '/admin/usage'])(
    'get usage, which varies by its media type as well: %s',
    async (path) => {
      for (const accept of ['application/json', 'text/csv']) {
        const key = path.startsWith('/admin/') ? OPERATOR : account;
        const { status, headers } = await api.ask(key, `GET ${path}`, undefined, { origin: ORIGIN, accept });
        expect([status, headers.vary]).toEqual([200, 'Origin, Accept']);
      }
    },
  );

  it('can load files of the portal, which vary by their encoding as well', async () => {
    const page = await (await fetch(api.url, { headers: { accept: 'text/html' } })).text();
    const [, path = ''] = /"(\/assets\/portal\/[\w.-]+)"/.exec(page) ?? [];
    const { headers } = await fetch(`${api.url}${path}`, { headers: { origin: ORIGIN } });
    expect(headers.get('vary')).toBe('Origin, Accept-Encoding');
  });

  it.each([
    ['200', { path: '/messages' }, true],
    ['400 of a path', { path: '/%' }, true],
    ['400 of a body', { method: 'POST', path: '/messages', body: '{' }, true],
    ['401', { path: '/messages' }, false],
    ['404', { path: '/unknown' }, true],
    ['405', { method: 'DELETE', path: '/messages' }, true],
  ])('can read the response with all its headers: %s', async (status, request, withKey) => {
    const authorization = withKey ? `Bearer ${account.key}` : undefined;
    const headers = { origin: ORIGIN, 'content-type': 'application/json', authorization };
    const response = await api.call({ ...request, headers });

    expect(response.status).toBe(Number.parseInt(status));
    expect(response.headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, vary: 'Origin' });
    const standard = ['cache-control', 'content-length', 'content-type', 'connection', 'keep-alive', 'vary'];
    const own = Object.keys(response.headers).filter((name) => !/^access-control-|^x-content-/.test(name));
    const exposed = [...own.filter((name) => !standard.includes(name)), ...ALWAYS_EXPOSED];
    expect(listed(response, 'access-control-expose-headers')).toEqual(expect.arrayContaining(exposed));
  });

  it.each(['/unknown', '/v1/messages', '/messages/msg_x/unknown'])(
    'may ask for %s, to read that there is nothing',
    async (path) => {
      const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' };
      const options = (headers: Record<string, string>) =>
        callUndocumented(api.url, { method: 'OPTIONS', path, headers });

      expect(await options({ origin: ORIGIN, ...asked })).toMatchObject({ status: 204 });
      expectProblem(await options({ origin: 'https://other.example.com', ...asked }), 404, 'not_found');
      expectProblem(await options({ origin: ORIGIN }), 404, 'not_found');
      expectProblem(await options(asked), 404, 'not_found');
    },
  );

  it.each([
    ['another origin', 'https://other.example.com'],
    ['one with the same beginning', `${ORIGIN}.evil.example`],
    ['one with the same end', 'https://evil-app.example.com'],
    ['another scheme', 'http://app.example.com'],
    ['another port', `${ORIGIN}:8443`],
    ['no origin', 'null'],
  ])('may do nothing, and caches learn that it depends on the origin: %s', async (_name, origin) => {
    for (const response of [await preflight(origin), await api.ask(account, 'GET /messages', undefined, { origin })]) {
      expect(crossOrigin(response)).toEqual(['vary']);
    }
  });

  it('are counted by their address, and can read that they have asked too often', async () => {
    const left = [await preflight(ORIGIN), await preflight(ORIGIN)].map(
      (sent) => sent.headers['x-ratelimit-remaining'],
    );
    expect(Number(left[1])).toBe(Number(left[0]) - 1);
    let response = await preflight(ORIGIN);
    for (let count = 0; count < 100 && response.status === 204; count++) response = await preflight(ORIGIN);

    expectProblem(response, 429, 'rate_limit_exceeded');
    expect(response.headers).toMatchObject({ 'x-ratelimit-limit': '100', 'access-control-allow-origin': ORIGIN });
  });
});

describe('Scripts of other origins, without CORS_ORIGINS', () => {
  const api = sharedApi();

  it('may do nothing', async () => {
    const headers = { origin: ORIGIN, 'access-control-request-method': 'POST' };
    const response = await api.ask(null, 'OPTIONS /messages', undefined, headers);

    expect(response.status).toBe(204);
    expect(crossOrigin(response)).toEqual([]);
  });
});
