import { accountOf, OPERATOR, sharedApi, statusesOf, type Account } from '../../support/api.js';

/** Somebody's data, and what a stranger tries on it. */
interface Owned {
  readonly account: Account;
  readonly keyId: string;
  readonly endpointId: string;
  readonly messageId: string;
}

type Attempt = readonly [route: string, statuses: readonly number[], body?: object];

const SECRET_NAME = 'of-the-owner';
const URL = `https://example.com/${SECRET_NAME}`;
const PERIOD = { since: '2020-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' };

/** Every route of accounts, keys, endpoints and usage; in a path, `key`, `ep` and `msg` are the owner's. */
const ROUTES: readonly Attempt[] = [
  ['GET /account', [200]],
  ['PATCH /account', [200], { delivery: 'webhooks' }],
  ['GET /account/usage', [200]],
  ['GET /account/usage/history', [200]],
  ['POST /account/simulate', [200], { requests: [{ at: 0, count: 1 }] }],
  ['GET /api-keys', [200]],
  ['GET /api-keys/current', [200]],
  ['POST /api-keys', [201], { name: 'new' }],
  ['POST /api-keys/key/rotate', [404], {}],
  ['DELETE /api-keys/key', [404]],
  ['GET /endpoints', [200]],
  ['POST /endpoints', [201], { url: 'https://example.com/new' }],
  ['GET /endpoints/ep', [404]],
  ['GET /endpoints/ep/deliveries', [404]],
  ['PATCH /endpoints/ep', [404], { description: 'changed' }],
  ['DELETE /endpoints/ep', [404]],
  ['POST /endpoints/ep/rotate-secret', [404], {}],
  ['POST /endpoints/ep/test', [404]],
  ['POST /endpoints/ep/replay', [404], PERIOD],
];

/** Every route of operators. */
const OPERATORS_ROUTES: readonly Attempt[] = [
  ['GET /admin/accounts', [401]],
  ['POST /admin/accounts', [401], { name: 'new' }],
  ['GET /admin/accounts/acct', [401]],
  ['PATCH /admin/accounts/acct', [401], { suspended: true }],
  ['DELETE /admin/accounts/acct', [401]],
  ['GET /admin/accounts/acct/api-keys', [401]],
  ['POST /admin/accounts/acct/api-keys', [401], { name: 'new' }],
  ['POST /admin/accounts/acct/portal-links', [401], { scopes: ['messages:read'] }],
  ['DELETE /admin/accounts/acct/api-keys/key', [401]],
  ['GET /admin/accounts/acct/usage/history', [401]],
  ['GET /admin/usage', [401]],
  ['GET /admin/audit', [401]],
  ['GET /admin/bans', [401]],
  ['DELETE /admin/bans/key', [401]],
  ['GET /admin/plans', [401]],
  ['GET /admin/plans/plan', [401]],
  ['PUT /admin/plans/plan', [401], { limits: { perMinute: 1, perDay: 1 } }],
  ['DELETE /admin/plans/plan', [401]],
];

/** Each with a body, since Jest passes a callback for an argument that is missing. */
const ALL = [...ROUTES, ...OPERATORS_ROUTES].map(([route, statuses, body]) => [route, statuses, body] as const);

describe('Another account', () => {
  const api = sharedApi();
  const stranger = accountOf(api);
  let owned: Owned;

  /** All that is stored of the owner, but for when keys were used. */
  const stored = () =>
    api.sql(
      `SELECT (SELECT json_agg(a) FROM sluice.accounts a WHERE id = $1) AS account,
              (SELECT json_agg(to_jsonb(k) - 'last_used_at' ORDER BY id) FROM sluice.api_keys k WHERE account_id = $1) AS keys,
              (SELECT json_agg(e ORDER BY id) FROM sluice.endpoints e WHERE account_id = $1) AS endpoints,
              (SELECT json_agg(m ORDER BY id) FROM sluice.messages m WHERE account_id = $1) AS messages`,
      [owned.account.id],
    );
  const routeTo = (route: string) =>
    route
      .replace(/(?<=\/)key(?=\/|$)/, owned.keyId)
      .replace(/(?<=\/)ep(?=\/|$)/, owned.endpointId)
      .replace(/(?<=\/)acct(?=\/|$)/, owned.account.id);

  beforeAll(async () => {
    const account = await api.signUp();
    const { id: keyId } = await api.createKey(account, { name: SECRET_NAME });
    const endpoint = await api.ask(account, 'POST /endpoints', { url: URL, description: SECRET_NAME });
    const { id: messageId } = await api.sent(account, { message: SECRET_NAME });
    owned = { account, keyId, endpointId: String(endpoint.body.id), messageId };
  });

  it.each(ALL)('gets and changes nothing by %s', async (route, statuses, body) => {
    const before = await stored();
    const { status, body: shown } = await api.ask(stranger, routeTo(route), body);
    const text = JSON.stringify(shown);
    expect(statuses).toContain(status);
    const ids = [owned.account.id, owned.account.keyId, owned.keyId, owned.endpointId, owned.messageId];
    for (const private_ of [SECRET_NAME, ...ids]) expect(text).not.toContain(private_);
    expect(await stored()).toEqual(before);
  });

  it('is refused only because it is not the owner: the same routes succeed for the owner and for operators', async () => {
    const own = ROUTES.filter(([, [status]]) => status === 404).filter(([route]) => !route.startsWith('DELETE'));
    const responses = await Promise.all(own.map(([route, , body]) => api.ask(owned.account, routeTo(route), body)));
    expect(statusesOf(responses).filter((status) => status >= 400)).toEqual([]);
    const shownTo = async (route: string) => JSON.stringify((await api.ask(OPERATOR, routeTo(route))).body);
    expect(await shownTo('GET /admin/accounts/acct')).toContain(owned.account.id);
    expect(await shownTo('GET /admin/accounts/acct/api-keys')).toContain(owned.account.keyId);
  });

  it('was tried on every route that is not public nor of messages', async () => {
    const { body } = await api.ask(null, 'GET /openapi.json');
    const documented = Object.entries(body.paths as Record<string, object>).flatMap(([path, operations]) =>
      Object.keys(operations)
        .filter((method) => ['get', 'post', 'patch', 'put', 'delete'].includes(method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    const tried = ALL.map(([route]) => route);
    const isPattern = (route: string) => route.replace(/\/(key|ep|acct|plan)(?=\/|$)/g, '/{}');
    const others =
      /^(\w+ \/(messages|events)(\/|$)|POST \/(accounts|portal-links\/open)$|GET \/(assets|openapi|docs|errors|$))/;
    const expected = documented.map((route) => route.replace(/\{\w+\}/g, '{}')).filter((route) => !others.test(route));
    expect(expected.toSorted()).toEqual(tried.map(isPattern).toSorted());
  });
});
