import {
  accountForEach,
  expectProblem,
  joinedApi,
  sharedApi,
  pageOf,
  pagesOf,
  type TestApi,
} from '../../support/api.js';
import { until } from '../../support/processes.js';

const MINUTE_MS = 60_000;
const hintOf = (key: string) => `${key.slice(0, 8)}…${key.slice(-4)}`;

describe('GET /api-keys', () => {
  const api = sharedApi();
  const other = joinedApi(api);
  const account = accountForEach(api);

  const list = async (process: TestApi = api) => pageOf(await process.ask(account.key, 'GET /api-keys')).data;
  const names = async () => (await list()).map(({ name }) => name);
  const lastUse = async (id: string) => (await list()).find((key) => key.id === id)?.lastUsedAt;

  it('responds 200 with all properties of a key', async () => {
    const expiresAt = new Date(Date.now() + MINUTE_MS).toISOString();
    const input = { name: 'Zoë', scopes: ['messages:read'], expiresAt };
    const { id, key, createdAt } = await api.createKey(account.key, input);
    const [newest, first, ...none] = await list();

    expect(newest).toEqual({ id, ...input, hint: hintOf(key), createdAt, lastUsedAt: null });
    expect(first).toEqual({
      ...{
        id: account.keyId,
        name: 'first key',
        hint: hintOf(account.key),
        scopes: ['messages:send', 'messages:read', 'messages:consume', 'account:manage'],
      },
      ...{ createdAt: expect.any(String) as string, expiresAt: null, lastUsedAt: expect.any(String) as string },
    });
    expect(none).toEqual([]);
  });

  it('shows no hint of a key that was stored without one', async () => {
    await api.sql('UPDATE sluice.api_keys SET hint = NULL WHERE id = $1', [account.keyId]);
    expect(await list()).toMatchObject([{ hint: null }]);
  });

  it('shows the hint of the new key after a rotation', async () => {
    const rotated = await api.ask(account.key, `POST /api-keys/${account.keyId}/rotate`, { graceSeconds: 60 });
    const key = rotated.body.key as string;
    expect((await list()).map(({ hint }) => hint)).toEqual([hintOf(key), hintOf(account.key)]);
  });

  it('never contains a key or its hash, and no more of it than its first and last four characters', async () => {
    const { key } = await api.createKey(account.key);
    const text = JSON.stringify(await list());
    const query = 'SELECT hash FROM sluice.api_keys WHERE account_id = $1';
    const hashes = await api.sql<{ hash: Buffer }>(query, [account.id]);

    for (const one of [key, account.key]) {
      for (const part of [one.slice(0, 9), one.slice(8, 14), one.slice(-5)]) expect(text).not.toContain(part);
    }
    expect(hashes).toHaveLength(2);
    for (const { hash } of hashes) {
      for (const form of ['hex', 'base64', 'base64url'] as const) expect(text).not.toContain(hash.toString(form));
    }
  });

  it('contains expired keys, but no revoked ones and none of another account', async () => {
    await api.createKey((await api.signUp()).key, { name: 'of another account' });
    const gone = await api.createKey(account.key, { name: 'revoked' });
    const old = await api.createKey(account.key, { name: 'expired' });
    await api.ask(account.key, `DELETE /api-keys/${gone.id}`);
    await api.sql("UPDATE sluice.api_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [old.id]);

    expect(await names()).toEqual(['expired', 'first key']);
  });

  it('pages through all of them, newest first', async () => {
    for (const name of ['1', '2', '3', '4', '5']) await api.createKey(account.key, { name });
    const pages = await pagesOf(api, account.key, '/api-keys', 2);

    const named = pages.map((page) => page.map(({ name }) => name));
    expect(named).toEqual([
      ['5', '4'],
      ['3', '2'],
      ['1', 'first key'],
    ]);
    expect(await pagesOf(other, account.key, '/api-keys', 100)).toEqual([await list()]);
  });

  it.each(['limit=0', 'cursor=', 'cursor=YWNjdF8x', 'limit=0&cursor=x'])(
    'responds 400 validation_failed to %s',
    async (query) => {
      const { errors } = expectProblem(await api.ask(account.key, `GET /api-keys?${query}`), 400, 'validation_failed');
      expect(errors).toHaveLength(query.includes('&cursor') ? 2 : 1);
    },
  );

  describe('reports when a key was last used', () => {
    it('to the minute, and null before, even if the scope was missing', async () => {
      const { id, key } = await api.createKey(account.key, { scopes: ['messages:read'] });
      expect(await lastUse(id)).toBeNull();
      const before = Date.now();
      expect((await api.ask(key, 'GET /account')).status).toBe(403);
      const used = await lastUse(id);

      expect(used).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/);
      expect(Date.parse(String(used))).toBeGreaterThan(before - MINUTE_MS);
      expect(Date.parse(String(used))).toBeLessThanOrEqual(Date.now());
    });

    it('also on another process', async () => {
      const { id, key } = await api.createKey(account.key);
      await other.ask(key, 'GET /messages');
      await until(async () => (await lastUse(id)) !== null);
    });
  });
});
