import { sharedApi } from '../../support/api.js';

interface NewAccount {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly apiKey: { readonly id: string; readonly key: string; readonly createdAt: string };
}

describe('POST /accounts responds 201', () => {
  const api = sharedApi();

  async function signUp(name: string): Promise<NewAccount> {
    const response = await api.ask(null, 'POST /accounts', { name });
    expect(response.status).toBe(201);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    return response.body as unknown as NewAccount;
  }

  it('with the account on the free plan, and its first key, which may do everything', async () => {
    const { id, createdAt, apiKey, ...rest } = await signUp('Acme');
    const { id: keyId, key, ...restOfKey } = apiKey;

    expect(id).toMatch(/^acct_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(createdAt).toBe(new Date(createdAt).toISOString());
    expect(rest).toEqual({ name: 'Acme', plan: 'free' });
    expect(keyId).toMatch(/^key_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(key).toMatch(/^slc_[0-9a-z]{30,}$/);
    expect(restOfKey).toEqual({
      name: 'first key',
      scopes: ['messages:send', 'messages:read', 'messages:consume', 'account:manage'],
      createdAt,
      expiresAt: null,
    });
  });

  it('with another account and another key each time, which work at once', async () => {
    const [one, other] = [await signUp('Acme'), await signUp('Acme')];
    expect(one.id).not.toBe(other.id);
    expect(one.apiKey.key).not.toBe(other.apiKey.key);
    for (const { apiKey } of [one, other]) expect((await api.send(apiKey)).status).toBe(202);
  });

  it('with a key that the database does not hold', async () => {
    const { apiKey } = await signUp('Acme');
    const [row] = await api.sql<{ text: string }>(
      `SELECT k::text || encode(hash, 'escape') AS text FROM sluice.api_keys k WHERE id = $1`,
      [apiKey.id],
    );

    expect(row?.text).toContain(apiKey.id);
    expect(row?.text).not.toContain(apiKey.key.slice(4));
    expect(row?.text).not.toContain(Buffer.from(apiKey.key).toString('hex'));
  });

  it.each(['A', ' Zoë 😀 ', "'; DROP TABLE accounts"])('to the name %p, kept as it is', async (name) => {
    const { id } = await signUp(name);
    expect(await api.sql('SELECT name FROM sluice.accounts WHERE id = $1', [id])).toEqual([{ name }]);
  });

  it('with any Authorization, and ignores unknown fields', async () => {
    const body = { name: 'Acme', plan: 'enterprise', id: 'mine' };
    const response = await api.ask(null, 'POST /accounts', body, { authorization: 'Bearer wrong' });

    expect(response.status).toBe(201);
    expect(response.body).toMatchObject({ plan: 'free', id: expect.stringMatching(/^acct_/) as string });
  });
});
