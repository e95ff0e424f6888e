import { accountForEach, accountOf, expectProblem, joinedApi, sharedApi, statusesOf } from '../../support/api.js';
import { type NewKey, type TestApi } from '../../support/api.js';

describe('DELETE /api-keys/:id', () => {
  const api = sharedApi();
  const other = joinedApi(api);
  const account = accountForEach(api);
  const another = accountOf(api);
  let made: NewKey;
  beforeEach(async () => {
    made = await api.createKey(account.key);
  });

  const revoke = (id = made.id, key = account.key, process: TestApi = api) =>
    process.ask(key, `DELETE /api-keys/${id}`);

  it('responds 204 without a body, and 404 api_key_not_found from then on', async () => {
    const response = await revoke();
    expect(response.status).toBe(204);
    expect(response.bytes).toHaveLength(0);
    expect(response.headers['content-type']).toBeUndefined();
    expectProblem(await revoke(), 404, 'api_key_not_found');
    expectProblem(await revoke(made.id, account.key, other), 404, 'api_key_not_found');
  });

  it('ends the key with the next request on every process, also where it was just used', async () => {
    for (const process of [api, other]) expect(await process.knows(made.key)).toBe(true);
    await revoke();
    for (const process of [other, api]) {
      const response = await process.ask(made.key, 'GET /messages');
      expectProblem(response, 401, 'unauthorized');
      expect(response.headers['www-authenticate']).toBe('Bearer realm="sluice", error="invalid_token"');
    }
    expect(await Promise.all([api.knows(account.key), other.knows(account.key)])).toEqual([true, true]);
  });

  it('lets a key revoke itself', async () => {
    expect((await revoke(made.id, made.key)).status).toBe(204);
    expectProblem(await revoke(made.id, made.key), 401, 'unauthorized');
  });

  it('responds 204 once when many revoke it at once', async () => {
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, n) => revoke(made.id, account.key, n % 2 ? api : other)),
    );
    expect(statusesOf(responses)).toEqual([204, ...Array<number>(9).fill(404)]);
  });

  it('revokes an expired key', async () => {
    await api.sql("UPDATE sluice.api_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [made.id]);
    expect((await revoke()).status).toBe(204);
  });

  it.each([
    ['unknown', () => 'key_01h455vb4pex5vsknk084sn02q'],
    ['malformed', () => 'nothing'],
    ['the key itself', () => made.key],
    ['with U+0000', () => `${made.id}%00`],
    ["another account's", () => another.keyId],
  ])('responds 404 api_key_not_found when the id is %s', async (_name, id) => {
    expectProblem(await revoke(id()), 404, 'api_key_not_found');
    expect([await api.knows(made.key), await other.knows(another.key)]).toEqual([true, true]);
  });
});
