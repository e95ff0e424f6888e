import { expectProblem, startTestApi, type TestAccount, type TestApi } from '../../support/api.js';

describe('an unknown path is answered 404 not_found', () => {
  let api: TestApi;
  let account: TestAccount;

  beforeAll(async () => {
    api = await startTestApi();
    account = await api.signUp();
  });
  afterAll(() => api.stop());

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
      expectProblem(await api.call({ method, path }), 404, 'not_found');
      expectProblem(await api.as(account, { method, path }), 404, 'not_found');
    }
  });
});
