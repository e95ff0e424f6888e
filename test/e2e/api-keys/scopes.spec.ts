import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

const SCOPES = ['messages:send', 'messages:read', 'messages:consume', 'account:manage'];

/** The scope that each route requires. */
const routes = [
  ['POST /messages', 'messages:send'],
  ['POST /messages/batch', 'messages:send'],
  ['POST /messages/retry', 'messages:send'],
  ['POST /messages/any/cancel', 'messages:send'],
  ['POST /messages/any/retry', 'messages:send'],
  ['GET /messages', 'messages:read'],
  ['HEAD /messages', 'messages:read'],
  ['GET /messages/any', 'messages:read'],
  ['GET /messages/any/attempts', 'messages:read'],
  ['POST /messages/lease', 'messages:consume'],
  ['POST /messages/ack', 'messages:consume'],
  ['POST /messages/any/ack', 'messages:consume'],
  ['POST /messages/any/nack', 'messages:consume'],
  ['POST /messages/any/extend', 'messages:consume'],
  ['GET /account', 'account:manage'],
  ['PATCH /account', 'account:manage'],
  ['GET /account/usage', 'account:manage'],
  ['GET /account/usage/history', 'account:manage'],
  ['POST /account/simulate', 'account:manage'],
  ['GET /api-keys', 'account:manage'],
  ['POST /api-keys', 'account:manage'],
  ['POST /api-keys/any/rotate', 'account:manage'],
  ['DELETE /api-keys/any', 'account:manage'],
] as const;

describe('A key without the scope of a route', () => {
  const api = sharedApi();
  const account = accountOf(api, { perMinute: 1_000, perDay: 1_000 });
  beforeAll(async () => {
    for (const scope of SCOPES) {
      const [own, others] = [[scope], SCOPES.filter((other) => other !== scope)];
      keys.set(`only ${scope}`, (await api.createKey(account.key, { scopes: own })).key);
      keys.set(`all but ${scope}`, (await api.createKey(account.key, { scopes: others })).key);
    }
    const { id, key } = await api.createKey(account.key);
    await api.sql("UPDATE sluice.api_keys SET scopes = '{}' WHERE id = $1", [id]);
    keys.set('none', key);
  });
  const keys = new Map<string, string>();

  const ask = (which: string, route: string, body?: string) => api.ask(keys.get(which) ?? '', route, body);

  it.each(routes)('responds 403 insufficient_scope to %s, which requires %s', async (route, scope) => {
    for (const which of [`all but ${scope}`, 'none']) {
      const response = await ask(which, route);
      if (route.startsWith('HEAD')) expect(response.status).toBe(403);
      else expect(expectProblem(response, 403, 'insufficient_scope').detail).toContain(scope);
      expect(response.headers['x-ratelimit-limit']).toBe('1000');
    }
    expect([401, 403]).not.toContain((await ask(`only ${scope}`, route)).status);
  });

  it.each(['{', 'x'.repeat(2_000_000)])('responds 403 before it reads the body: %.5s', async (body) => {
    for (const route of ['POST /messages', 'POST /messages/batch', 'POST /api-keys', 'POST /account/simulate']) {
      expectProblem(await ask('only messages:read', route, body), 403, 'insufficient_scope');
    }
  });

  it('responds 403 before it queries the message', async () => {
    const { id } = await api.sent(account);
    expectProblem(await ask('only messages:send', `GET /messages/${id}`), 403, 'insufficient_scope');
    expectProblem(await ask('only messages:read', `POST /messages/${id}/cancel`), 403, 'insufficient_scope');
    expect((await ask('only messages:read', `GET /messages/${id}`)).body).toMatchObject({ status: 'queued' });
  });

  it('responds 403 and changes nothing', async () => {
    const columns = 'id, revoked_at, expires_at, name';
    const stored = () =>
      api.sql(`SELECT ${columns} FROM sluice.api_keys WHERE account_id = $1 ORDER BY id`, [account.id]);
    const before = await stored();
    const path = `/api-keys/${account.keyId}`;
    for (const [route, body] of [['POST /api-keys', '{"name":"x"}'], [`POST ${path}/rotate`], [`DELETE ${path}`]]) {
      expectProblem(await ask('all but account:manage', route ?? '', body), 403, 'insufficient_scope');
    }
    expect(await stored()).toEqual(before);
  });

  it('is counted all the same', async () => {
    const used = async () => (await api.ask(account.key, 'GET /account/usage')).body.minute as { used: number };
    const before = (await used()).used;
    await ask('none', 'GET /messages');
    expect((await used()).used).toBe(before + 2);
  });
});
