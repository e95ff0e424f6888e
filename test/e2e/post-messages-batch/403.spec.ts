import { expectProblem, startTestApi, type TestAccount, type TestApi } from '../../support/api.js';
import { jsonOf } from '../../support/http.js';

describe('POST /messages/batch answers 403 insufficient_scope and stores nothing', () => {
  let api: TestApi;
  let account: TestAccount;

  beforeAll(async () => {
    api = await startTestApi();
    account = await api.signUp();
  });
  afterAll(() => api.stop());
  afterEach(async () => {
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it('to a key without the scope messages:send', async () => {
    const created = await api.as(account, {
      method: 'POST',
      path: '/api-keys',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"reader","scopes":["messages:read"]}',
    });
    const { key } = jsonOf(created) as { key: string };
    const answer = await api.sendBatch({ ...account, key }, { body: '{' });
    expect(expectProblem(answer, 403, 'insufficient_scope').detail).toContain('messages:send');
  });
});
