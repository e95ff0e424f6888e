import { accountOf, expectProblem, OPERATOR, sharedApi } from '../../support/api.js';

describe('GET /api-keys/current', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each(['messages:send', 'messages:read', 'messages:consume', 'account:manage'])(
    'responds 200 with the key of the request, which has only the scope %s',
    async (scope) => {
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      const { id, key, createdAt } = await api.createKey(account, { name: scope, scopes: [scope], expiresAt });
      const { status, body } = await api.ask(key, 'GET /api-keys/current');
      const lastUsedAt = expect.stringMatching(/T\d\d:\d\d:00\.000Z$/) as string;
      const hint = `${key.slice(0, 8)}…${key.slice(-4)}`;
      expect([status, body]).toEqual([
        200,
        { id, name: scope, hint, scopes: [scope], createdAt, expiresAt, lastUsedAt },
      ]);
    },
  );

  it('responds 403 while the account is suspended', async () => {
    const { id, key } = await api.signUp();
    await api.ask(OPERATOR, `PATCH /admin/accounts/${id}`, { suspended: true });
    expectProblem(await api.ask(key, 'GET /api-keys/current'), 403, 'account_suspended');
  });

  it('responds 401 without a valid key', async () => {
    expectProblem(await api.ask(null, 'GET /api-keys/current'), 401, 'unauthorized');
  });
});
