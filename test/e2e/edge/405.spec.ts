import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('a wrong method gets 405 method_not_allowed', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each([
    ['/messages', ['PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY', 'PROPFIND', 'PURGE'], 'GET, HEAD, OPTIONS, POST'],
    ['/messages/any', ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'], 'GET, HEAD, OPTIONS'],
    ['/messages/any/cancel', ['GET', 'PUT', 'PATCH', 'DELETE'], 'OPTIONS, POST'],
    ['/messages/any/retry', ['GET', 'PUT', 'PATCH', 'DELETE'], 'OPTIONS, POST'],
    ['/messages/batch', ['GET', 'PUT', 'DELETE'], 'OPTIONS, POST'],
    ['/messages/retry?x=y', ['GET', 'PUT', 'DELETE'], 'OPTIONS, POST'],
    ['http://sluice/messages/batch', ['GET'], 'OPTIONS, POST'],
    ['/accounts', ['GET', 'PUT', 'PATCH', 'DELETE'], 'OPTIONS, POST'],
    ['/messages?limit=1', ['DELETE'], 'GET, HEAD, OPTIONS, POST'],
    ['/%6Dessages/%00', ['DELETE'], 'GET, HEAD, OPTIONS'],
    ['http://sluice/messages', ['DELETE'], 'GET, HEAD, OPTIONS, POST'],
  ])('at %s with a key and without, and with the methods that are allowed', async (path, methods, allowed) => {
    for (const method of methods) {
      for (const answer of [await api.ask(null, `${method} ${path}`), await api.ask(account, `${method} ${path}`)]) {
        expectProblem(answer, 405, 'method_not_allowed');
        expect(answer.headers.allow?.split(', ').toSorted().join(', ')).toBe(allowed);
      }
    }
  });

  it('to a body that nobody reads as well, and serves the same connection on', async () => {
    const headers = { 'content-type': 'application/json' };
    const answer = await api.ask(account, 'PUT /messages', '{"message":"x"}', headers);

    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.headers.connection).toBe('keep-alive');
  });
});
