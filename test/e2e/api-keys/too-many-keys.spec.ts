import { accountForEach, expectProblem, joinedApi, sharedApi, statusesOf, type TestApi } from '../../support/api.js';

const MAX_KEYS = 100;

describe('An account has at most 100 live keys', () => {
  const api = sharedApi();
  const other = joinedApi(api);
  const account = accountForEach(api);

  /** Gives the account further keys, without a request for each. */
  const fill = (count: number, expiresAt: Date | null = null, revokedAt: Date | null = null) =>
    api.sql(
      `INSERT INTO sluice.api_keys (id, account_id, name, hash, scopes, created_at, expires_at, revoked_at)
       SELECT 'key_' || gen_random_uuid(), $1, 'filling', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()),
              '{}', now(), $3, $4
       FROM generate_series(1, $2)`,
      [account.id, count, expiresAt, revokedAt],
    );
  const live = async () => {
    const condition = 'account_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())';
    return (await api.sql(`SELECT FROM sluice.api_keys WHERE ${condition}`, [account.id])).length;
  };
  const create = (process: TestApi = api, by = account) => process.ask(by, 'POST /api-keys', { name: 'one more' });
  const past = new Date(Date.now() - 1_000);

  it('so the 101st responds 409 too_many_keys, to this account only', async () => {
    await fill(MAX_KEYS - 2, new Date(Date.now() + 3_600_000));
    expect((await create()).status).toBe(201);
    expectProblem(await create(), 409, 'too_many_keys');
    expect(await live()).toBe(MAX_KEYS);
    expect((await create(api, await api.signUp())).status).toBe(201);
  });

  it('however many are created at once on every process', async () => {
    await fill(MAX_KEYS - 5);
    const responses = await Promise.all(Array.from({ length: 16 }, (_, n) => create(n % 2 ? api : other)));

    expect(statusesOf(responses)).toEqual([...Array<number>(4).fill(201), ...Array<number>(12).fill(409)]);
    expect(await live()).toBe(MAX_KEYS);
  });

  it('not counting expired and revoked ones', async () => {
    await fill(MAX_KEYS, past);
    await fill(MAX_KEYS, null, past);
    expect((await create()).status).toBe(201);
  });

  it('so one of 100 can be rotated at once, but not with a grace', async () => {
    await fill(MAX_KEYS - 2);
    const { id, key } = await api.createKey(account.key);
    const rotate = (body: object) => api.ask(account.key, `POST /api-keys/${id}/rotate`, body);

    expectProblem(await rotate({ graceSeconds: 60 }), 409, 'too_many_keys');
    expect(await api.knows(key)).toBe(true);
    expect((await rotate({ graceSeconds: 0 })).status).toBe(201);
    expect(await live()).toBe(MAX_KEYS);
  });
});
