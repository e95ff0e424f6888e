import { accountOf, expectProblem, ownApi, sharedApi } from '../../support/api.js';
import type { Answer } from '../../support/http.js';

const ORIGIN = 'https://app.example.com';

const listed = (answer: Answer, name: string) => answer.headers[name]?.toLowerCase().split(', ') ?? [];
const crossOrigin = (answer: Answer) =>
  Object.keys(answer.headers).filter((name) => name === 'vary' || name.startsWith('access-control-'));

describe('scripts of other origins, with CORS_ORIGINS', () => {
  const api = ownApi({ CORS_ORIGINS: `http://localhost:5173,${ORIGIN}`, ANONYMOUS_PER_MINUTE: '100' });
  const account = accountOf(api);

  const preflight = (origin: string, path = '/messages') =>
    api.ask(null, `OPTIONS ${path}`, undefined, {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    });

  it.each([ORIGIN, 'http://localhost:5173'])(
    'may ask beforehand what they may send, without a key: %s',
    async (origin) => {
      const answer = await preflight(origin);

      expect(answer.status).toBe(204);
      expect(answer.headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' });
      expect(answer.headers.allow).toContain('POST');
      expect(listed(answer, 'access-control-allow-methods')).toEqual(['get', 'head', 'post', 'patch', 'delete']);
      expect(listed(answer, 'access-control-allow-headers')).toEqual(
        expect.arrayContaining(['authorization', 'content-type', 'idempotency-key']),
      );
      expect(Number(answer.headers['access-control-max-age'])).toBeGreaterThan(60);
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );

  it('are counted by their address when they ask', async () => {
    const [first, second] = [await preflight(ORIGIN), await preflight(ORIGIN)];
    const remaining = ({ headers }: Answer) => Number(headers['x-ratelimit-remaining']);
    expect(remaining(second)).toBe(remaining(first) - 1);
    expect(second.headers['x-ratelimit-limit']).toBe('100');
  });

  it.each([
    ['200', { path: '/messages' }, true],
    ['400 of a path', { path: '/%' }, true],
    ['400 of a body', { method: 'POST', path: '/messages', body: '{' }, true],
    ['401', { path: '/messages' }, false],
    ['404', { path: '/unknown' }, true],
    ['405', { method: 'DELETE', path: '/messages' }, true],
  ])('can read the answer and all that its headers tell: %s', async (status, request, withKey) => {
    const headers = { origin: ORIGIN, 'content-type': 'application/json' };
    const answer = await (withKey
      ? api.call({ ...request, headers: { ...headers, authorization: `Bearer ${account.key}` } })
      : api.call({ ...request, headers }));

    expect(answer.status).toBe(Number.parseInt(status));
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, vary: 'Origin' });
    const standard = ['cache-control', 'content-length', 'content-type', 'connection', 'date', 'keep-alive', 'vary'];
    const own = Object.keys(answer.headers).filter((name) => !/^access-control-|^x-content-/.test(name));
    expect(listed(answer, 'access-control-expose-headers')).toEqual(
      expect.arrayContaining(own.filter((name) => !standard.includes(name))),
    );
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'location', 'retry-after']) {
      expect(listed(answer, 'access-control-expose-headers')).toContain(name);
    }
  });

  it.each([
    ['of an origin that is not named', 'https://other.example.com'],
    ['of one that only begins alike', `${ORIGIN}.evil.example`],
    ['of one that only ends alike', 'https://evil-app.example.com'],
    ['of another scheme', 'http://app.example.com'],
    ['of another port', `${ORIGIN}:8443`],
    ['of none', 'null'],
  ])('may nothing, though caches are told that it depends: %s', async (_name, origin) => {
    for (const answer of [await preflight(origin), await api.ask(account, 'GET /messages', undefined, { origin })]) {
      expect(crossOrigin(answer)).toEqual(['vary']);
    }
  });

  it('are told so when they have asked too often', async () => {
    let answer = await preflight(ORIGIN);
    for (let count = 0; count < 100 && answer.status === 204; count++) answer = await preflight(ORIGIN);

    expectProblem(answer, 429, 'rate_limit_exceeded');
    expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
  });
});

describe('scripts of other origins, without CORS_ORIGINS', () => {
  const api = sharedApi();

  it('may nothing', async () => {
    const headers = { origin: ORIGIN, 'access-control-request-method': 'POST' };
    const answer = await api.ask(null, 'OPTIONS /messages', undefined, headers);

    expect(answer.status).toBe(204);
    expect(crossOrigin(answer)).toEqual([]);
  });
});
