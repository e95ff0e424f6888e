import { randomUUID } from 'node:crypto';
import { expectProblem, expectStatus, joinedApi, OPERATOR, ownApi, pageOf, statusesOf } from '../../support/api.js';

interface Created {
  readonly id: string;
  readonly apiKey: { readonly key: string };
}

describe('Operators', () => {
  const api = ownApi({ SIGNUP: 'closed' });
  const other = joinedApi(api, { SIGNUP: 'closed' });

  const post = (body: object | string, by = api) => by.ask(OPERATOR, 'POST /admin/accounts', body);
  const created = async (body: object) =>
    expectStatus(201, await post({ name: 'Acme', ...body })) as unknown as Created;
  const patch = (id: string, body: object) => api.ask(OPERATOR, `PATCH /admin/accounts/${id}`, body);
  const get = async (id: string) => expectStatus(200, await api.ask(OPERATOR, `GET /admin/accounts/${id}`));
  const found = async (query: string) => pageOf(await api.ask(OPERATOR, `GET /admin/accounts?${query}`)).data;
  const count = async () => (await api.sql<{ count: number }>('SELECT count(*)::int FROM sluice.accounts'))[0]?.count;

  describe('create accounts while sign-up is closed', () => {
    it('as a sign-up does', async () => {
      expectProblem(await api.ask(null, 'POST /accounts', { name: 'Acme' }), 403, 'signup_closed');
      const { id, apiKey, ...rest } = await created({});
      expect(rest).toEqual({
        ...{ name: 'Acme', plan: 'free', limits: { perMinute: 60, perDay: 1_000 }, externalId: null },
        createdAt: expect.any(String) as string,
      });
      expect(expectStatus(200, await other.ask(apiKey.key))).toMatchObject({ id, name: 'Acme' });
      expect(apiKey).toMatchObject({ name: 'first key', expiresAt: null });
    });

    it.each([
      [{ plan: 'pro' }, { plan: 'pro', limits: { perMinute: 300, perDay: 10_000 } }],
      [
        { plan: null, limits: null, externalId: null },
        { plan: 'free', externalId: null },
      ],
      [
        { plan: 'enterprise', limits: { perMinute: 5, perDay: 9, other: 1 } },
        { plan: 'enterprise', limits: { perMinute: 5, perDay: 9 } },
      ],
      [{ externalId: 'a' }, { externalId: 'a' }],
      [{ externalId: '!"#$%&/()=?`~'.padEnd(255, 'x') }, { externalId: '!"#$%&/()=?`~'.padEnd(255, 'x') }],
      [{ name: ' Zoë 💌 ' }, { name: ' Zoë 💌 ' }],
    ])('with %j', async (body, shown) => {
      const account = await created(body);
      expect(account).toMatchObject(shown);
      expect(await get(account.id)).toMatchObject(shown);
    });

    it.each([
      ['/name', {}],
      ['/name', { name: '' }],
      ['/name', { name: ' ' }],
      ['/name', { name: 1 }],
      ['/name', { name: null }],
      ['/name', { name: 'a\u0000b' }],
      ['/name', { name: 'x'.repeat(101) }],
      ['/plan', { name: 'A', plan: 'gold' }],
      ['/plan', { name: 'A', plan: 1 }],
      ['/limits', { name: 'A', limits: { perMinute: 1, perDay: 1 } }],
      ['/limits', { name: 'A', plan: 'pro', limits: { perMinute: 1, perDay: 1 } }],
      ['/limits', { name: 'A', plan: 'enterprise', limits: { perMinute: 0, perDay: 1 } }],
      ['/limits', { name: 'A', plan: 'enterprise', limits: [] }],
      ['/externalId', { name: 'A', externalId: '' }],
      ['/externalId', { name: 'A', externalId: 'with space' }],
      ['/externalId', { name: 'A', externalId: 'zoë' }],
      ['/externalId', { name: 'A', externalId: 'line\n' }],
      ['/externalId', { name: 'A', externalId: '\u0000' }],
      ['/externalId', { name: 'A', externalId: 'x'.repeat(256) }],
      ['/externalId', { name: 'A', externalId: 7 }],
    ])('but not where %s is wrong in %j', async (pointer, body) => {
      const before = await count();
      const { errors } = expectProblem(await post(body), 400, 'validation_failed');
      expect(errors).toEqual([{ pointer, detail: expect.stringMatching(/\.$/) as string }]);
      expect(await count()).toBe(before);
    });

    it('with an external id that no other account has, and only one of several at once', async () => {
      const externalId = randomUUID();
      const responses = await Promise.all([api, other, api, other].map((by) => post({ name: 'Acme', externalId }, by)));
      expect(statusesOf(responses)).toEqual([201, 409, 409, 409]);
      for (const response of responses) if (response.status === 409) expectProblem(response, 409, 'external_id_taken');
      expect(await found(`externalId=${externalId}`)).toHaveLength(1);
      expectProblem(await post({ name: 'Acme', externalId }), 409, 'external_id_taken');
    });
  });

  describe('change accounts', () => {
    it('by another name, which the account sees', async () => {
      const { id, apiKey } = await created({});
      expect((await patch(id, { name: 'Acme Ltd' })).body).toMatchObject({ name: 'Acme Ltd', plan: 'free' });
      expect((await other.ask(apiKey.key)).body).toMatchObject({ name: 'Acme Ltd' });
      expect((await patch(id, { name: null, externalId: 'n-1' })).body).toMatchObject({ name: 'Acme Ltd' });
    });

    it('by an external id, which is free again once it is removed', async () => {
      const [one, two] = [await created({ externalId: 'e-1' }), await created({ externalId: 'e-2' })];
      expectProblem(await patch(two.id, { externalId: 'e-1' }), 409, 'external_id_taken');
      expect((await patch(one.id, { externalId: 'e-1', name: 'Same' })).body).toMatchObject({ externalId: 'e-1' });
      expect((await patch(one.id, { plan: 'pro' })).body).toMatchObject({ externalId: 'e-1' });
      expect((await patch(one.id, { externalId: null })).body).toMatchObject({ externalId: null, plan: 'pro' });
      expect((await patch(two.id, { externalId: 'e-1' })).body).toMatchObject({ externalId: 'e-1' });
    });

    it.each([
      ['/name', { name: '' }],
      ['/name', { name: 1 }],
      ['/name', { name: 'x'.repeat(101) }],
      ['/externalId', { externalId: '' }],
      ['/externalId', { externalId: 'a b' }],
      ['/externalId', { externalId: 7 }],
    ])('but not where %s is wrong in %j, and then nothing else of it', async (pointer, body) => {
      const { id } = await created({});
      const { errors } = expectProblem(await patch(id, { plan: 'pro', ...body }), 400, 'validation_failed');
      expect(errors).toMatchObject([{ pointer }]);
      expect(await get(id)).toMatchObject({ name: 'Acme', plan: 'free', externalId: null });
    });
  });

  describe('find accounts', () => {
    beforeAll(async () => {
      for (const name of ['Blue Whale', 'The blue 100% whale', 'under_score', 'back\\slash', 'Grün']) {
        await created({ name });
      }
      const [whale] = await found('name=blue%20whale');
      await patch(String(whale?.id), { externalId: 'f-10' });
    });

    it.each([
      ['name=blue', ['The blue 100% whale', 'Blue Whale']],
      ['name=WHALE', ['The blue 100% whale', 'Blue Whale']],
      ['name=100%25', ['The blue 100% whale']],
      ['name=%25', ['The blue 100% whale']],
      ['name=_', ['under_score']],
      ['name=%5C', ['back\\slash']],
      ['name=gr%C3%BCn', ['Grün']],
      ['name=nobody', []],
      [`name=${encodeURIComponent('💌'.repeat(100))}`, []],
      ['name=blue&externalId=f-10', ['Blue Whale']],
      ['name=green&externalId=f-10', []],
      ['externalId=f-10', ['Blue Whale']],
      ['externalId=F-10', []],
      ['externalId=f-10&suspended=true', []],
      ['name=blue&limit=1', ['The blue 100% whale']],
    ])('by %s', async (query, names) => {
      expect((await found(query)).map(({ name }) => name)).toEqual(names);
    });

    it.each([
      ['name must', 'name='],
      ['name must', `name=${'x'.repeat(101)}`],
      ['name must', 'name=%00'],
      ['name must', 'name=a&name=b'],
      ['externalId must', 'externalId='],
      ['externalId must', 'externalId=a%20b'],
      ['externalId must', 'externalId=%00'],
      ['externalId must', 'externalId=a&externalId=b'],
    ])('not with a wrong filter: %s in %s', async (detail, query) => {
      const { errors } = expectProblem(
        await api.ask(OPERATOR, `GET /admin/accounts?${query}`),
        400,
        'validation_failed',
      );
      expect(errors).toEqual([{ pointer: '', detail: expect.stringContaining(detail) as string }]);
    });
  });

  it('alone may do all this', async () => {
    const { id, apiKey } = await created({});
    for (const [route, body] of [
      ['POST /admin/accounts', { name: 'Mine' }],
      [`PATCH /admin/accounts/${id}`, { name: 'Mine' }],
      [`DELETE /admin/accounts/${id}`, undefined],
    ] as const) {
      expectProblem(await api.ask(apiKey.key, route, body), 401, 'unauthorized');
      expectProblem(await api.ask(null, route, body), 401, 'unauthorized');
    }
    expect(await get(id)).toMatchObject({ name: 'Acme' });
  });
});
