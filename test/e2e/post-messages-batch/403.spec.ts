import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('POST /messages/batch responds 403 insufficient_scope and stores nothing', () => {
  const api = sharedApi();
  const account = accountOf(api);
  afterEach(async () => {
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it('to a key without the scope messages:send', async () => {
    const created = await api.ask(account, 'POST /api-keys', '{"name":"reader","scopes":["messages:read"]}');
    const { key } = created.body as { key: string };
    const answer = await api.sendBatch({ ...account, key }, { body: '{' });
    expect(expectProblem(answer, 403, 'insufficient_scope').detail).toContain('messages:send');
  });
});
