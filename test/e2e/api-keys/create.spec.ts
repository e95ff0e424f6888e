import { setTimeout as sleep } from 'node:timers/promises';
import { accountForEach, expectProblem, joinedApi, newKey, sharedApi, pageOf } from '../../support/api.js';

const SCOPES = ['messages:send', 'messages:read', 'messages:consume', 'account:manage'];

describe('POST /api-keys', () => {
  const api = sharedApi();
  const other = joinedApi(api);
  const account = accountForEach(api);

  const post = (body: object | string, key = account.key) => api.ask(key, 'POST /api-keys', body);
  const count = async () => pageOf(await api.ask(account.key, 'GET /api-keys')).data.length;

  describe('responds 201', () => {
    it('with the key, which is shown this once', async () => {
      const response = await post({ name: 'CI', scopes: ['messages:read', 'messages:send'] });
      const { id, key, createdAt, ...rest } = newKey(response);

      expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(id).toMatch(/^key_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      expect(key).toMatch(/^slc_[0-9a-hjkmnp-tv-z]{40}$/);
      expect(key).not.toBe(account.key);
      expect(createdAt).toBe(new Date(createdAt).toISOString());
      expect(rest).toEqual({ name: 'CI', scopes: ['messages:read', 'messages:send'], expiresAt: null });
    });

    it.each([
      ['a name that another has', { name: 'first key' }],
      ['a name of 100 characters beyond the first plane', { name: '💌'.repeat(100) }],
      ['a name with blanks around it', { name: ' Zoë 💌 ' }],
      ['an unknown field', { name: 'CI', id: 'key_mine', key: 'slc_mine' }],
    ])('to %s, kept as it is', async (_name, body) => {
      expect(newKey(await post(body)).name).toBe(body.name);
    });

    it('with the named scopes once each, or with all scopes of the creating key', async () => {
      const scopesOf = async (input: object, by = account.key) => (await api.createKey(by, input)).scopes;
      expect(await scopesOf({ scopes: ['messages:read', 'messages:read'] })).toEqual(['messages:read']);
      expect(await scopesOf({})).toEqual(SCOPES);
      const { key } = await api.createKey(account.key, { scopes: ['account:manage', 'messages:read'] });
      expect(await scopesOf({}, key)).toEqual(['account:manage', 'messages:read']);
    });

    it.each([
      ['2099-12-31T23:59:59Z', '2099-12-31T23:59:59.000Z'],
      ['2099-12-31T23:59:59.123+05:30', '2099-12-31T18:29:59.123Z'],
      ['2096-02-29T00:00:00-01:00', '2096-02-29T01:00:00.000Z'],
      ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
      [null, null],
    ])('with the expiry %s returned as %s', async (expiresAt, returned) => {
      expect((await api.createKey(account.key, { expiresAt })).expiresAt).toBe(returned);
    });

    it('with a key that is valid at once and until its expiry, on every process', async () => {
      const expiresAt = new Date(Date.now() + 10_000);
      const { key } = await api.createKey(account.key, { expiresAt: expiresAt.toISOString() });
      const before = await Promise.all([api.knows(key), other.knows(key)]);
      await sleep(expiresAt.getTime() - Date.now());

      expect(before).toEqual([true, true]);
      for (const process of [api, other]) {
        expectProblem(await process.ask(key, 'GET /account'), 401, 'unauthorized');
      }
    });
  });

  describe('responds 400 and creates no key', () => {
    afterEach(async () => {
      expect(await count()).toBe(1);
    });

    it.each([
      ['missing', undefined],
      ['null', null],
      ['an array', ['CI']],
      ['101 characters', 'n'.repeat(101)],
      ['with U+0000', 'a\u0000'],
    ])('when the name is %s', async (_name, name) => {
      const { errors } = expectProblem(await post({ name }), 400, 'validation_failed');
      expect(errors).toEqual([{ pointer: '/name', detail: expect.stringMatching(/^name /) as string }]);
    });

    it.each([
      ['unknown', ['messages:delete'], /^scopes must contain only /],
      ['partly unknown', ['messages:send', 'admin'], /^scopes must contain only /],
      ['a text', 'messages:send', /^scopes must be an array/],
      ['null', null, /^scopes must be an array/],
      ['none', [], /^scopes must have at least one /],
      ['null among others', ['messages:send', null], /^scopes must contain only /],
    ])('when scopes are %s', async (_name, scopes, detail) => {
      const { errors } = expectProblem(await post({ name: 'CI', scopes }), 400, 'validation_failed');
      expect(errors).toEqual([{ pointer: '/scopes', detail: expect.stringMatching(detail) as string }]);
    });

    it.each([
      ...[new Date(Date.now() - 1).toISOString(), 'tomorrow', '', '2099-12-31T23:59:60Z', '2099-02-30T00:00:00Z'],
      ...['2099-01-01T25:00:00Z', '2099-W05-1', '2099-123', '20990101T000000Z', '+2099-01-01T00:00:00Z'],
      ...['2099-01-01T00:00:00,5Z', '2099-01-01T10+01'],
      // A time without an offset is another one on each server.
      ...['2099-01-01T00:00:00', '2099-01-01', '2099'],
      ...[4_000_000_000, ['2099-01-01T00:00:00Z'], {}, true],
    ])('when expiresAt is %j', async (expiresAt) => {
      const { errors } = expectProblem(await post({ name: 'CI', expiresAt }), 400, 'validation_failed');
      expect(errors).toEqual([{ pointer: '/expiresAt', detail: expect.stringMatching(/^expiresAt must /) as string }]);
    });

    it('and names all invalid fields', async () => {
      const { errors } = expectProblem(await post({ scopes: ['x'], expiresAt: 'x' }), 400, 'validation_failed');
      expect(errors).toMatchObject([{ pointer: '/name' }, { pointer: '/scopes' }, { pointer: '/expiresAt' }]);
    });

    it.each([
      ['null', 'validation_failed'],
      ['[]', 'validation_failed'],
      ['', 'invalid_json'],
      ['{"name":"CI"', 'invalid_json'],
    ])('when the body is %p: %s', async (body, code) => {
      expectProblem(await post(body), 400, code);
    });
  });

  it.each([
    [['account:manage'], ['messages:send']],
    [['account:manage'], ['account:manage', 'messages:read']],
    [['account:manage', 'messages:read'], SCOPES],
  ])('responds 403 insufficient_scope and creates no key when one with %j requests %j', async (held, scopes) => {
    const { key } = await api.createKey(account.key, { scopes: held });
    const { detail } = expectProblem(await post({ name: 'CI', scopes }, key), 403, 'insufficient_scope');

    for (const scope of SCOPES) {
      expect(String(detail).includes(scope)).toBe(scopes.includes(scope) && !held.includes(scope));
    }
    expect(await count()).toBe(2);
  });
});
