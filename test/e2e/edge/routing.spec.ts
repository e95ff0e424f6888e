import { accountOf, expectProblem, sharedApi } from '../../support/api.js';
import { exchange, lines, type HttpResponse } from '../../support/http.js';

describe('Routing', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const allowed = ({ headers }: HttpResponse) => headers.allow?.split(', ').toSorted().join(', ');

  it.each([
    ['/messages', ['PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY', 'PROPFIND', 'PURGE'], 'GET, HEAD, OPTIONS, POST'],
    ['/messages/any', ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'], 'GET, HEAD, OPTIONS'],
    ['/messages/any/cancel', ['GET', 'PUT', 'PATCH', 'DELETE'], 'OPTIONS, POST'],
    ['/messages/any/retry', ['GET', 'PUT', 'PATCH', 'DELETE'], 'OPTIONS, POST'],
    ['/messages/batch', ['GET', 'PUT', 'DELETE'], 'OPTIONS, POST'],
    ['/messages/%62atch', ['GET', 'PUT', 'DELETE'], 'OPTIONS, POST'],
    ['/messages/retry?x=y', ['GET', 'PUT', 'DELETE'], 'OPTIONS, POST'],
    ['http://sluice/messages/batch', ['GET'], 'OPTIONS, POST'],
    ['/', ['POST', 'PUT', 'DELETE'], 'GET, HEAD, OPTIONS'],
    ['/docs', ['POST'], 'GET, HEAD, OPTIONS'],
    ['/openapi.json', ['POST'], 'GET, HEAD, OPTIONS'],
    ['/errors/not_found', ['POST'], 'GET, HEAD, OPTIONS'],
    ['/assets/portal/any.js', ['POST'], 'GET, HEAD, OPTIONS'],
    ['/accounts', ['GET', 'PUT', 'PATCH', 'DELETE'], 'OPTIONS, POST'],
    ['/messages?limit=1', ['DELETE'], 'GET, HEAD, OPTIONS, POST'],
    ['/%6Dessages/%00', ['DELETE'], 'GET, HEAD, OPTIONS'],
    ['http://sluice/messages', ['DELETE'], 'GET, HEAD, OPTIONS, POST'],
  ])(
    'allows %s its methods: OPTIONS gets 204 and others 405 with Allow, with a key and without',
    async (path, others, methods) => {
      for (const by of [null, account]) {
        const options = await api.ask(by, `OPTIONS ${path}`);
        expect([options.status, allowed(options), options.bytes.length]).toEqual([204, methods, 0]);
        expect(options.headers).toMatchObject({
          'cache-control': 'no-store',
          'x-request-id': expect.any(String) as string,
        });
        expect(options.headers).not.toHaveProperty('content-type');
        for (const method of others) {
          const response = await api.ask(by, `${method} ${path}`);
          expectProblem(response, 405, 'method_not_allowed');
          expect(allowed(response)).toBe(methods);
        }
      }
    },
  );

  it('allows * the methods of all paths', async () => {
    const response = await exchange(api.url, lines('OPTIONS * HTTP/1.1', 'Host: sluice'));
    expect([response.status, allowed(response)]).toEqual([204, 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT']);
  });

  it('keeps the connection open after a 405 to a request with a body', async () => {
    const response = await api.ask(account, 'PUT /messages', '{"message":"x"}');
    expectProblem(response, 405, 'method_not_allowed');
    expect(response.headers.connection).toBe('keep-alive');
  });

  it.each([
    '/message',
    '/Messages',
    '/messages/',
    '//messages',
    '/messages/any/',
    '/messages/any/cancel/more',
    '/messages/any/deliver',
    '/v1/messages',
    '/favicon.ico',
    '/*',
    '/messages;a=b',
    `/${'a'.repeat(99)}`,
  ])('responds 404 not_found to any method of an unknown path, with a key and without: %s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      for (const by of [null, account]) expectProblem(await api.ask(by, `${method} ${path}`), 404, 'not_found');
    }
  });
});
