import {
  expectProblem,
  joinedApi,
  sharedApi,
  statusesOf,
  type Account,
  type TestApi,
  type NewKey,
} from '../../support/api.js';

describe('DELETE /api-keys/:id', () => {
  const api = sharedApi();
  const other = joinedApi(api);
  let account: Account;
  let made: NewKey;
  beforeEach(async () => {
    account = await api.signUp();
    made = await api.createKey(account.key);
  });

  const revoke = (id = made.id, key = account.key, process: TestApi = api) =>
    process.ask(key, `DELETE /api-keys/${id}`);

  it('responds 204 with nothing, and 404 api_key_not_found from then on', async () => {
    const answer = await revoke();
    expect(answer.status).toBe(204);
    expect(answer.bytes).toHaveLength(0);
    expect(answer.headers['content-type']).toBeUndefined();
    expectProblem(await revoke(), 404, 'api_key_not_found');
    expectProblem(await revoke(made.id, account.key, other), 404, 'api_key_not_found');
  });

  it('ends the key with the next request on every process, also where it was just used', async () => {
    const processes = [api, other];
    for (const process of processes) expect(await process.knows(made.key)).toBe(true);
    await revoke();
    for (const process of [...processes].reverse()) {
      const answer = await process.ask(made.key, 'GET /messages');
      expectProblem(answer, 401, 'unauthorized');
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="sluice", error="invalid_token"');
    }
  });

  it('ends it for requests that are sent in parallel', async () => {
    await Promise.all(Array.from({ length: 10 }, () => other.ask(made.key, 'GET /messages')));
    await revoke();
    const answers = await Promise.all(Array.from({ length: 20 }, () => other.ask(made.key, 'GET /messages')));
    expect(statusesOf(answers)).toEqual(Array(20).fill(401));
  });

  it('leaves the other keys of the account alone', async () => {
    await revoke();
    expect(await Promise.all([api.knows(account.key), other.knows(account.key)])).toEqual([true, true]);
  });

  it('lets a key revoke itself', async () => {
    expect((await revoke(made.id, made.key)).status).toBe(204);
    expectProblem(await revoke(made.id, made.key), 401, 'unauthorized');
  });

  it('responds 204 once when many revoke it at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => revoke(made.id, account.key, n % 2 ? api : other)),
    );
    expect(statusesOf(answers)).toEqual([204, ...Array<number>(9).fill(404)]);
  });

  it('revokes an expired key', async () => {
    await api.sql("UPDATE sluice.api_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [made.id]);
    expect((await revoke()).status).toBe(204);
  });

  it.each([
    ['unknown', () => 'key_01h455vb4pex5vsknk084sn02q'],
    ['malformed', () => 'nothing'],
    ['the key itself', () => made.key],
    ['in upper case', () => made.id.toUpperCase()],
    ['with U+0000', () => `${made.id}%00`],
    ['only U+0000', () => '%00'],
    ['with a line break', () => `${made.id}%0a`],
    ['a pattern', () => '%25'],
  ])('responds 404 api_key_not_found when the id is %s', async (_name, id) => {
    expectProblem(await revoke(id()), 404, 'api_key_not_found');
    expect(await api.knows(made.key)).toBe(true);
  });

  it("responds 404 api_key_not_found to another account's key, which goes on", async () => {
    const stranger = await api.signUp();
    expectProblem(await revoke(stranger.keyId), 404, 'api_key_not_found');
    expect(await Promise.all([api.knows(stranger.key), other.knows(stranger.key)])).toEqual([true, true]);
  });
});
