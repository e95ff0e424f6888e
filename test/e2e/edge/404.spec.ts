import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('an unknown path gets 404 not_found', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each([
    '/',
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
  ])('with a key and without: %s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      expectProblem(await api.ask(null, `${method} ${path}`), 404, 'not_found');
      expectProblem(await api.ask(account, `${method} ${path}`), 404, 'not_found');
    }
  });
});
