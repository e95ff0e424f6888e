import { accountForEach, expectProblem, joinedApi, OPERATOR, ownApi, pagesOf } from '../../support/api.js';
import { OPERATIONS } from '../../support/documented.js';

const ALICE = 'a'.repeat(40);
const BOB = 'b'.repeat(40);
const LIMITS = { perMinute: 5, perDay: 50 };

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly operator: string;
  readonly action: string;
  readonly subject: string;
  readonly accountId: string | null;
  readonly before: object | null;
  readonly after: object | null;
}

describe('GET /admin/audit', () => {
  const api = ownApi();
  const named = joinedApi(api, { ADMIN_API_KEY: `alice:${ALICE},bob:${BOB}` });
  const account = accountForEach(api, 'free');
  beforeEach(() => api.sql('DELETE FROM sluice.audit'));

  const entries = async (query = 'limit=100') =>
    (await api.ask(OPERATOR, `GET /admin/audit?${query}`)).body.data as Entry[];
  const actions = async () => (await entries()).map(({ action }) => action);
  const change = (body: object, key: string = ALICE) => named.ask(key, `PATCH /admin/accounts/${account.id}`, body);

  it('returns who changed what, when, and from what to what', async () => {
    await change({ plan: 'pro' });
    await change({ plan: 'enterprise', limits: LIMITS, suspended: true }, BOB);
    const [second, first] = await entries();
    const about = { action: 'account.changed', subject: account.id, accountId: account.id };
    const own = { id: expect.stringMatching(/^audit_/) as string, at: expect.any(String) as string };
    const [free, pro] = [
      { perMinute: 60, perDay: 1_000 },
      { perMinute: 300, perDay: 10_000 },
    ];
    expect(first).toEqual({
      ...{ ...own, ...about, operator: 'alice' },
      ...{ before: { plan: 'free', limits: free }, after: { plan: 'pro', limits: pro } },
    });
    expect(second).toEqual({
      ...{ ...own, ...about, operator: 'bob' },
      before: { plan: 'pro', limits: pro, suspended: false },
      after: { plan: 'enterprise', limits: LIMITS, suspended: true },
    });
    expect(Math.abs(Date.parse(String(first?.at)) - Date.now())).toBeLessThan(60_000);
  });

  it('has that a name and an external id were changed, but not the texts, which go with the account', async () => {
    const mark = account.id;
    const table = [
      [{ name: `Blue ${mark}` }, ['renamed']],
      [{ externalId: `blue-${mark}` }, ['externalIdChanged']],
      [{ externalId: `bull-${mark}` }, ['externalIdChanged']],
      [{ name: `Bull ${mark}`, externalId: null, paused: true }, ['externalIdChanged', 'paused', 'renamed']],
    ] as const;
    for (const [body, changed] of table) {
      await api.sql('DELETE FROM sluice.audit');
      // The second one changes nothing.
      for (const response of [await change(body), await change(body)]) expect(response.status).toBe(200);
      const all = (value: boolean) => Object.fromEntries(changed.map((field) => [field, value]));
      const found = await entries();
      expect(found).toMatchObject([{ action: 'account.changed', subject: account.id }]);
      expect(found.map(({ before, after }) => [before, after])).toEqual([[all(false), all(true)]]);
      expect(JSON.stringify(found)).not.toMatch(/blue|bull/i);
    }
  });

  it('has every kind of change', async () => {
    const { id, keyId } = account;
    const names = { name: 'Acme of Bolivia', externalId: 'customer-4711' };
    const other = String((await named.ask(BOB, 'POST /admin/accounts', { ...names, plan: 'pro' })).body.id);
    const link = await named.ask(BOB, `POST /admin/accounts/${other}/portal-links`, { scopes: ['messages:read'] });
    await named.ask(BOB, `DELETE /admin/accounts/${other}`);
    await named.ask(BOB, 'PUT /admin/plans/silver', { limits: LIMITS });
    await named.ask(BOB, 'PUT /admin/plans/silver', { limits: null, maxEndpoints: 3 });
    await named.ask(BOB, 'DELETE /admin/plans/silver');
    await change({ suspended: true }, BOB);
    const key = await named.ask(BOB, `POST /admin/accounts/${id}/api-keys`, {
      name: 'way back',
      scopes: ['messages:read'],
    });
    await api.sql(
      `INSERT INTO sluice.offences (key_id, account_id, bans, banned_at_ms, banned_until_ms, reason)
       VALUES ($1, $2, 1, 0, 4000000000000, 'went on')`,
      [keyId, id],
    );
    await named.ask(BOB, `DELETE /admin/bans/${keyId}`);
    await named.ask(BOB, `DELETE /admin/accounts/${id}/api-keys/${keyId}`);
    const terms = { limits: LIMITS, maxStoredBytes: null, maxEndpoints: null };
    const found = (await entries()).toReversed();
    expect(new Set(found.map(({ operator }) => operator))).toEqual(new Set(['bob']));
    expect(
      found.map(({ action, subject, accountId, before, after }) => [action, subject, accountId, before, after]),
    ).toEqual([
      ['account.created', other, other, null, expect.objectContaining({ plan: 'pro' })],
      [
        ...['portal_link.created', link.body.id, other, null],
        { scopes: ['messages:read'], expiresAt: link.body.expiresAt },
      ],
      ['account.deleted', other, other, { deleted: false }, { deleted: true }],
      ['plan.created', 'silver', null, null, terms],
      ['plan.changed', 'silver', null, { limits: LIMITS, maxEndpoints: null }, { limits: null, maxEndpoints: 3 }],
      ['plan.deleted', 'silver', null, { ...terms, limits: null, maxEndpoints: 3 }, null],
      ['account.changed', id, id, { suspended: false }, { suspended: true }],
      ['api_key.created', key.body.id, id, null, { scopes: ['messages:read'], expiresAt: null }],
      [
        ...['ban.lifted', keyId, id],
        { reason: 'went on', bannedAt: '1970-01-01T00:00:00.000Z', bannedUntil: '2096-10-02T07:06:40.000Z' },
        null,
      ],
      ['api_key.revoked', keyId, id, { revoked: false }, { revoked: true }],
    ]);
    const text = JSON.stringify(found);
    const token = String(link.body.url).split('=').at(-1) ?? '';
    for (const secret of [ALICE, BOB, OPERATOR.key, String(key.body.key), account.key, token, ...Object.values(names)])
      expect(text).not.toContain(secret);
    // Each of these is made above.
    const routes = OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(routes.filter((route) => /^(?!GET)[A-Z]+ \/admin\//.test(route)).sort()).toEqual([
      ...['DELETE /admin/accounts/{id}', 'DELETE /admin/accounts/{id}/api-keys/{keyId}', 'DELETE /admin/bans/{keyId}'],
      ...['DELETE /admin/plans/{name}', 'PATCH /admin/accounts/{id}', 'POST /admin/accounts'],
      ...['POST /admin/accounts/{id}/api-keys', 'POST /admin/accounts/{id}/portal-links', 'PUT /admin/plans/{name}'],
    ]);
  });

  it('calls a key without a name operator', async () => {
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { suspended: true });
    expect(await entries()).toMatchObject([{ operator: 'operator' }]);
  });

  it('has nothing of what changed nothing, was refused, or was done by the account', async () => {
    const { id, keyId } = account;
    for (const body of [{}, { plan: 'free' }, { suspended: false }, { plan: 'nothing' }, { limits: LIMITS }]) {
      await change(body);
    }
    await named.ask(ALICE, 'PUT /admin/plans/free', { limits: { perMinute: 60, perDay: 1_000 } });
    for (const route of [
      ...[`DELETE /admin/accounts/${id}/api-keys/none`, `DELETE /admin/bans/${keyId}`, 'DELETE /admin/plans/free'],
      'DELETE /admin/plans/none',
    ]) {
      expect((await named.ask(ALICE, route)).status).toBeGreaterThanOrEqual(400);
    }
    await api.ask(account.key, 'PATCH /account', { delivery: 'pull' });
    await api.ask(account.key, `DELETE /api-keys/${keyId}`);
    expect(await entries()).toEqual([]);
  });

  it('has a change once that was repeated with its Idempotency-Key', async () => {
    const create = () =>
      named.ask(ALICE, `POST /admin/accounts/${account.id}/api-keys`, { name: 'x' }, { 'idempotency-key': account.id });
    expect((await create()).body).toEqual((await create()).body);
    expect(await actions()).toEqual(['api_key.created']);
  });

  it('is written with the change, or nothing is changed', async () => {
    const { id, keyId } = account;
    await api.sql(
      `INSERT INTO sluice.offences (key_id, account_id, banned_until_ms, reason)
       VALUES ('${keyId}', '${id}', 4000000000000, 'went on')`,
    );
    await api.sql('ALTER TABLE sluice.audit RENAME TO gone');
    try {
      const responses = [
        await change({ plan: 'pro', suspended: true }),
        await named.ask(ALICE, 'PUT /admin/plans/bronze', { limits: LIMITS }),
        await named.ask(ALICE, 'PUT /admin/plans/pro', { limits: LIMITS }),
        await named.ask(ALICE, 'DELETE /admin/plans/business'),
        await named.ask(ALICE, `POST /admin/accounts/${id}/api-keys`, { name: 'x' }),
        await named.ask(ALICE, `DELETE /admin/accounts/${id}/api-keys/${keyId}`),
        await named.ask(ALICE, `DELETE /admin/bans/${keyId}`),
      ];
      for (const response of responses) expectProblem(response, 503, 'unavailable');
    } finally {
      await api.sql('ALTER TABLE sluice.gone RENAME TO audit');
    }
    expect((await api.ask(OPERATOR, `GET /admin/accounts/${id}`)).body).toMatchObject({
      plan: 'free',
      suspended: false,
    });
    expect((await api.ask(OPERATOR, `GET /admin/accounts/${id}/api-keys`)).body.data).toHaveLength(1);
    expect((await api.ask(OPERATOR, 'GET /admin/bans')).body.data).toMatchObject([{ keyId }]);
    expectProblem(await api.ask(OPERATOR, 'GET /admin/plans/bronze'), 404, 'plan_not_found');
    const { body } = await api.ask(OPERATOR, 'GET /admin/plans/pro');
    expect(body).toMatchObject({ limits: { perMinute: 300, perDay: 10_000 } });
    expect((await api.ask(OPERATOR, 'GET /admin/plans/business')).status).toBe(200);
    await api.sql('DELETE FROM sluice.offences');
  });

  it('is read page by page, newest first, all of it or for one account', async () => {
    const other = await api.signUp('free');
    for (const suspended of [true, false, true]) await change({ suspended });
    await api.ask(OPERATOR, `PATCH /admin/accounts/${other.id}`, { plan: 'pro' });
    const pages = (await pagesOf(api, OPERATOR, '/admin/audit', 3)) as unknown as Entry[][];
    expect(pages.map((page) => page.map(({ accountId }) => accountId))).toEqual([
      [other.id, account.id, account.id],
      [account.id],
    ]);
    expect(pages.flat().map(({ id }) => id)).toEqual(
      pages
        .flat()
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
    expect(await entries(`accountId=${other.id}`)).toMatchObject([{ accountId: other.id }]);
    expect(await entries('accountId=acct_01h455vb4pex5vsknk084sn02q')).toEqual([]);
  });

  it.each(['limit=0', 'limit=x', 'cursor=x', 'cursor=YWNjdF8x', 'accountId=x', 'accountId='])(
    'responds 400 to %s',
    async (query) => {
      expectProblem(await api.ask(OPERATOR, `GET /admin/audit?${query}`), 400, 'validation_failed');
    },
  );

  it('accepts each operator\u2019s key, and no part of the setting', async () => {
    for (const key of [ALICE, BOB]) expect((await named.ask(key, 'GET /admin/audit')).status).toBe(200);
    for (const key of [`alice:${ALICE}`, 'alice', `${ALICE},bob`, OPERATOR.key, ALICE.slice(1)]) {
      expectProblem(await named.ask(key, 'GET /admin/audit'), 401, 'unauthorized');
    }
  });
});
