import { accountOf, expectProblem, joinedApi, OPERATOR, sharedApi, pageOf, pagesOf } from '../../support/api.js';

describe('/admin/accounts/:id/api-keys', () => {
  const api = sharedApi();
  const other = joinedApi(api);
  const account = accountOf(api);
  const another = accountOf(api);

  const revoke = (keyId: string, accountId = account.id) =>
    api.ask(OPERATOR, `DELETE /admin/accounts/${accountId}/api-keys/${keyId}`);

  it('lists the keys as the account sees them, in pages', async () => {
    for (let count = 0; count < 2; count++) await api.createKey(account.key);
    const own = pageOf(await api.ask(account.key, 'GET /api-keys')).data;
    expect(own).toHaveLength(3);
    const pages = await pagesOf(api, OPERATOR, `/admin/accounts/${account.id}/api-keys`, 2);
    expect(pages.map(({ length }) => length)).toEqual([2, 1]);
    expect(pages.flat()).toEqual(own);
  });

  it('revokes a key with the next request on every process, also the last one', async () => {
    const keys = pageOf<{ id: string }>(await api.ask(account.key, 'GET /api-keys')).data;
    for (const process of [api, other]) expect(await process.knows(account.key)).toBe(true);
    for (const { id } of keys) expect((await revoke(id)).status).toBe(204);
    for (const process of [api, other]) expectProblem(await process.ask(account.key), 401, 'unauthorized');
    expect(pageOf(await api.ask(OPERATOR, `GET /admin/accounts/${account.id}/api-keys`)).data).toEqual([]);
    expectProblem(await revoke(account.keyId), 404, 'api_key_not_found');
  });

  it.each([
    ['api_key_not_found', 'the key of another account', () => [account.id, another.keyId]],
    ['api_key_not_found', 'a malformed key', () => [another.id, '%00']],
    ['account_not_found', 'a malformed account', () => ['%00', another.keyId]],
  ])('responds 404 %s to %s', async (code, _name, ids) => {
    const [accountId = '', keyId = ''] = ids();
    expectProblem(await revoke(keyId, accountId), 404, code);
    expect(await api.knows(another.key)).toBe(true);
  });

  it('responds 404 account_not_found to the list of an unknown account', async () => {
    expectProblem(await api.ask(OPERATOR, 'GET /admin/accounts/nothing/api-keys'), 404, 'account_not_found');
  });
});
