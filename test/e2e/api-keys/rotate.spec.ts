import { setTimeout as sleep } from 'node:timers/promises';
import { accountOf, expectProblem, joinedApi, newKey, pageOf, sharedApi, statusesOf } from '../../support/api.js';
import { type Account, type NewKey, type TestApi } from '../../support/api.js';

describe('POST /api-keys/:id/rotate', () => {
  const api = sharedApi();
  const other = joinedApi(api);
  let account: Account;
  let old: NewKey;
  beforeEach(async () => {
    account = await api.signUp();
    old = await api.createKey(account.key);
  });

  const rotate = (body?: object | string, id = old.id, process: TestApi = api) =>
    process.ask(account.key, `POST /api-keys/${id}/rotate`, body);
  const known = (key: string) => Promise.all([api, other].map((process) => process.knows(key)));
  const keys = async () => pageOf(await api.ask(account.key, 'GET /api-keys')).data;

  describe('responds 201', () => {
    it.each([
      ['no body', undefined],
      ['{}', {}],
      ['graceSeconds 0', { graceSeconds: 0 }],
      ['graceSeconds null', { graceSeconds: null }],
    ])('to %s, and the old key ends at once on every process', async (_name, body) => {
      expect(await known(old.key)).toEqual([true, true]);
      const { key } = newKey(await rotate(body));
      expect(await known(old.key)).toEqual([false, false]);
      expect(await known(key)).toEqual([true, true]);
    });

    it('with another id and key, and with the name, scopes and expiry of the old one', async () => {
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      old = await api.createKey(account.key, { name: 'CI', scopes: ['messages:read'], expiresAt });
      const { id, key, createdAt, ...rest } = newKey(await rotate());

      expect(id).toMatch(/^key_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      expect(id > old.id).toBe(true);
      expect(key).toMatch(/^slc_[0-9a-hjkmnp-tv-z]{40}$/);
      expect(key).not.toBe(old.key);
      expect(createdAt >= old.createdAt).toBe(true);
      expect(rest).toEqual({ name: 'CI', scopes: ['messages:read'], expiresAt });
      expect((await keys()).map((one) => one.id)).not.toContain(old.id);
    });

    it('to a key that rotates itself', async () => {
      const { id, key } = newKey(await rotate({}, account.keyId));
      expect(await known(account.key)).toEqual([false, false]);
      account = { ...account, keyId: id, key };
      expect(newKey(await rotate({}, id)).id).not.toBe(id);
    });

    it('and lets the old key work until its grace ends, on every process', async () => {
      const { key } = newKey(await rotate({ graceSeconds: 10 }));
      const during = [...(await known(old.key)), ...(await known(key))];
      const { expiresAt } = (await keys()).find(({ id }) => id === old.id) ?? {};
      const left = Date.parse(String(expiresAt)) - Date.now();
      await sleep(left);

      expect(during).toEqual([true, true, true, true]);
      expect(left).toBeLessThanOrEqual(10_000);
      expect(await known(old.key)).toEqual([false, false]);
      expect(await known(key)).toEqual([true, true]);
    });

    it('to one of two parallel requests', async () => {
      for (let round = 0; round < 5; round++) {
        const responses = await Promise.all([api, other].map((process) => rotate({}, old.id, process)));
        expect(statusesOf(responses)).toEqual([201, 404]);
        expect(await keys()).toHaveLength(2);
        old = newKey(responses.find(({ status }) => status === 201) ?? (await rotate()));
      }
    });

    it('or the old key is revoked, if both are requested at the same time', async () => {
      account = await api.signUp({ perMinute: 1_000, perDay: 1_000 });
      const made = await Promise.all(Array.from({ length: 10 }, () => api.createKey(account.key)));
      const outcomes = await Promise.all(
        made.map(async ({ id, key }) => {
          const revoke = other.ask(account.key, `DELETE /api-keys/${id}`);
          const statuses = [(await rotate({}, id)).status, (await revoke).status];
          return [...statuses, await api.knows(key)];
        }),
      );

      for (const outcome of outcomes) expect(['201,404,false', '404,204,false']).toContain(outcome.join());
    });
  });

  it.each([
    ['negative', -1],
    ['a fraction', 0.5],
    ['a string', '60'],
    ['more than 30 days', 2_592_001],
  ])('responds 400 validation_failed when graceSeconds is %s; the old key stays valid', async (_name, graceSeconds) => {
    const { errors } = expectProblem(await rotate({ graceSeconds }), 400, 'validation_failed');
    const detail = expect.stringMatching(/^graceSeconds must .*\.$/) as string;
    expect(errors).toEqual([{ pointer: '/graceSeconds', detail }]);
    expect(await api.knows(old.key)).toBe(true);
  });

  it.each([
    ['validation_failed', 'application/json', '[]'],
    ['invalid_json', 'application/json', '{'],
    ['invalid_content_type', 'text/plain', '{}'],
  ])('responds 400 %s to %s %s', async (code, type, body) => {
    const route = `POST /api-keys/${old.id}/rotate`;
    expectProblem(await api.ask(account, route, body, { 'content-type': type }), 400, code);
  });

  it('responds 403 insufficient_scope to a key that lacks a scope of the other, which keeps working', async () => {
    const { key } = await api.createKey(account.key, { scopes: ['account:manage', 'messages:read'] });
    const response = await api.ask(key, `POST /api-keys/${old.id}/rotate`);

    expect(expectProblem(response, 403, 'insufficient_scope').detail).toContain('messages:send');
    expect(await known(old.key)).toEqual([true, true]);
    expect(await keys()).toHaveLength(3);
  });

  describe('responds 404 api_key_not_found and changes nothing', () => {
    const another = accountOf(api);

    it.each([
      ['unknown', () => 'key_01h455vb4pex5vsknk084sn02q'],
      ['malformed', () => 'nothing'],
      ['with U+0000', () => `${old.id}%00`],
      ["another account's", () => another.keyId],
    ])('when the id is %s', async (_name, id) => {
      expectProblem(await rotate({}, id()), 404, 'api_key_not_found');
      expect([await known(old.key), await known(another.key)]).toEqual(Array(2).fill([true, true]));
    });

    it('when it is revoked, rotated or expired', async () => {
      const [rotated, expired] = [await api.createKey(account.key), await api.createKey(account.key)];
      await api.ask(account.key, `DELETE /api-keys/${old.id}`);
      await rotate({}, rotated.id);
      await api.sql("UPDATE sluice.api_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [expired.id]);
      for (const { id } of [old, rotated, expired]) expectProblem(await rotate({}, id), 404, 'api_key_not_found');
    });
  });
});
