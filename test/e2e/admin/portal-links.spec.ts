import { accountForEach, expectProblem, joinedApi, OPERATOR, pageOf, sharedApi } from '../../support/api.js';
import { until } from '../../support/processes.js';

describe('/admin/accounts/:id/portal-links', () => {
  const api = sharedApi();
  const other = joinedApi(api);
  const account = accountForEach(api);

  const make = (body: object = { scopes: ['messages:read'] }, id = account.id) =>
    api.ask(OPERATOR, `POST /admin/accounts/${id}/portal-links`, body);
  const tokenOf = ({ body }: { readonly body: Record<string, unknown> }) => String(body.url).split('#link=')[1] ?? '';
  const open = (token: string, process = api) => process.ask(null, 'POST /portal-links/open', { token });
  const listed = async () => pageOf<{ id: string }>(await api.ask(account.key, 'GET /api-keys')).data;

  it('makes a link that is exchanged once, for a key with its scopes and its expiry', async () => {
    const link = await make({ scopes: ['messages:read', 'messages:read'], expiresInSeconds: 60 });
    expect(link.status).toBe(201);
    const { id, scopes, expiresAt, url } = link.body;
    expect(url).toBe(`${api.url}/#link=${tokenOf(link)}`);
    expect(scopes).toEqual(['messages:read']);
    const left = Date.parse(String(expiresAt)) - Date.now();
    expect(left > 0 && left <= 60_000).toBe(true);
    // Both have found the link before one of them exchanges it.
    const lock = 'SELECT FROM sluice.accounts WHERE id = $1 FOR UPDATE';
    const { opening } = await api.during(lock, [account.id], async () => {
      const opening = [api, other].map((process) => open(tokenOf(link), process));
      const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      await until(async () => (await api.sql(waiting)).length >= 2);
      return { opening };
    });
    const both = await Promise.all(opening);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 404]);
    const { key, ...session } = both.find(({ status }) => status === 201)?.body ?? {};
    expect(session).toMatchObject({ id, name: 'Portal link', scopes, expiresAt });
    expect((await other.ask(String(key), 'GET /messages')).status).toBe(200);
    expectProblem(await api.ask(String(key), 'POST /messages', { message: 'a' }), 403, 'insufficient_scope');
    expectProblem(await open(tokenOf(link)), 404, 'portal_link_not_found');
  });

  it('is no key before it is exchanged, and stores no token', async () => {
    const token = tokenOf(await make());
    expectProblem(await api.ask(token, 'GET /messages'), 401, 'unauthorized');
    const rows = await api.sql('SELECT * FROM sluice.api_keys');
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it.each(['', 'slp_', `slp_${'0'.repeat(40)}`, 'a key'])('exchanges no other token: %j', async (token) => {
    expectProblem(await open(token === 'a key' ? account.key : token), 404, 'portal_link_not_found');
  });

  it('ends when it is revoked, opened or not', async () => {
    const [unopened, opened] = [await make(), await make()];
    const { key } = (await open(tokenOf(opened))).body;
    for (const { body } of [unopened, opened]) {
      expect((await listed()).map(({ id }) => id)).toContain(body.id);
      expect((await api.ask(account.key, `DELETE /api-keys/${String(body.id)}`)).status).toBe(204);
    }
    expectProblem(await open(tokenOf(unopened)), 404, 'portal_link_not_found');
    expectProblem(await other.ask(String(key), 'GET /messages'), 401, 'unauthorized');
  });

  it('expires', async () => {
    const link = await make({ scopes: ['messages:read'], expiresInSeconds: 1 });
    const id = String(link.body.id);
    await api.sql(`UPDATE sluice.api_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]);
    expectProblem(await open(tokenOf(link)), 404, 'portal_link_not_found');
  });

  it('is refused while the account is suspended, can be opened afterwards, and not when it is deleted', async () => {
    const [first, second] = [await make(), await make()];
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { suspended: true });
    expectProblem(await open(tokenOf(first)), 403, 'account_suspended');
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { suspended: false });
    const { key } = (await open(tokenOf(first))).body;
    expect((await api.ask(String(key), 'GET /messages')).status).toBe(200);
    await api.ask(OPERATOR, `DELETE /admin/accounts/${account.id}`);
    expectProblem(await open(tokenOf(second)), 404, 'portal_link_not_found');
    expectProblem(await other.ask(String(key), 'GET /messages'), 401, 'unauthorized');
    expectProblem(await make(), 404, 'account_not_found');
  });

  it('is an entry of the audit without the token', async () => {
    const link = await make();
    const { scopes, expiresAt, id } = link.body;
    const audit = await api.ask(OPERATOR, `GET /admin/audit?accountId=${account.id}`);
    expect(pageOf(audit).data[0]).toMatchObject({
      ...{ action: 'portal_link.created', subject: id, accountId: account.id },
      ...{ before: null, after: { scopes, expiresAt } },
    });
    expect(JSON.stringify(audit.body)).not.toContain(tokenOf(link));
  });

  it('counts as one of the 100 keys of the account', async () => {
    await api.sql(
      `INSERT INTO sluice.api_keys (id, account_id, name, hash, scopes, created_at)
       SELECT 'key_' || gen_random_uuid(), $1, 'filling', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), '{}', now()
       FROM generate_series(1, 98)`,
      [account.id],
    );
    expect((await make()).status).toBe(201);
    expectProblem(await make(), 409, 'too_many_keys');
  });

  it.each([
    ['/scopes', {}],
    ['/scopes', { scopes: [] }],
    ['/scopes', { scopes: ['everything'] }],
    ...[0, 86_401, 1.5, '60'].map((expiresInSeconds): [string, object] => [
      '/expiresInSeconds',
      { scopes: ['messages:read'], expiresInSeconds },
    ]),
  ])('responds 400 with the place %s: %j', async (pointer, body) => {
    const response = await make(body);
    expectProblem(response, 400, 'validation_failed');
    expect(response.body.errors).toMatchObject([{ pointer }]);
  });
});
