import { expectProblem, joinedApi, OPERATOR, ownApi, pagesOf, statusesOf } from '../../support/api.js';

const LIMITS = { perMinute: 5, perDay: 50 };
const TERMS = { limits: LIMITS, maxStoredBytes: 1_000_000, maxEndpoints: 2 };
const MAX = Number.MAX_SAFE_INTEGER;
type Json = Readonly<Record<string, unknown>>;

describe('Plans', () => {
  const api = ownApi();
  const other = joinedApi(api);
  let name = '';
  let plans = 0;
  beforeEach(() => {
    name = `plan-${++plans}`;
  });

  const ask = (route: string, body?: object | string, headers?: Record<string, string>, on = api) =>
    on.ask(OPERATOR, route, body, headers);
  const put = (body: object | string, headers?: Record<string, string>, plan = name, on = api) =>
    ask(`PUT /admin/plans/${plan}`, body, headers, on);
  const get = (plan = name) => ask(`GET /admin/plans/${plan}`);
  const remove = (headers?: Record<string, string>, plan = name) =>
    ask(`DELETE /admin/plans/${plan}`, undefined, headers);
  const move = (id: string, plan = name, more = {}) => ask(`PATCH /admin/accounts/${id}`, { plan, ...more });
  const audited = async () =>
    (await ask('GET /admin/audit?limit=100')).body.data as { action: string; subject: string }[];
  const actions = async () => (await audited()).filter(({ subject }) => subject === name).map(({ action }) => action);

  it('are the four of a new installation at first', async () => {
    const { body } = await ask('GET /admin/plans');
    const nothing = { maxStoredBytes: null, maxEndpoints: null, accounts: 0, version: expect.any(Number) as number };
    expect(body).toEqual({
      data: [
        { name: 'business', limits: { perMinute: 1_000, perDay: 100_000 }, ...nothing },
        { name: 'enterprise', limits: null, ...nothing },
        { name: 'free', limits: { perMinute: 60, perDay: 1_000 }, ...nothing },
        { name: 'pro', limits: { perMinute: 300, perDay: 10_000 }, ...nothing },
      ],
      nextCursor: null,
    });
  });

  it('are listed page by page, with their accounts', async () => {
    await put(TERMS);
    await move((await api.signUp('free')).id);
    const pages = (await pagesOf(api, OPERATOR, '/admin/plans', 2)) as Json[][];
    const names = pages.flat().map((plan) => String(plan.name));
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(['business', 'pro', name]));
    expect(pages.flat().find((plan) => plan.name === name)).toMatchObject({ accounts: 1 });
    for (const query of ['limit=0', 'limit=101', 'cursor=x', 'cursor=R29sZA']) {
      expectProblem(await ask(`GET /admin/plans?${query}`), 400, 'validation_failed');
    }
  });

  it('are created with 201 and replaced with 200; the same again changes nothing', async () => {
    const created = await put(TERMS);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({ name, ...TERMS, accounts: 0, version: expect.any(Number) as number });
    const again = await put(TERMS);
    expect([again.status, again.body, again.headers.etag]).toEqual([200, created.body, created.headers.etag]);
    const changed = await put({ limits: null });
    expect(changed.body).toMatchObject({ name, limits: null, maxStoredBytes: null, maxEndpoints: null });
    expect(changed.headers.etag).not.toBe(created.headers.etag);
    const read = await get();
    expect([read.body, read.headers.etag]).toEqual([changed.body, changed.headers.etag]);
    expect(await actions()).toEqual(['plan.changed', 'plan.created']);
  });

  it.each(['a', '-', 'constructor', '0'.repeat(40)])('may have the name %s', async (plan) => {
    expect((await put(TERMS, {}, plan)).status).toBe(201);
    const { id } = await api.signUp('free');
    expect((await move(id, plan)).body).toMatchObject({ plan, limits: LIMITS });
  });

  it.each(['Gold', 'g_d', 'g.d', '%C3%BC', 'a%20b', '0'.repeat(41), '%00'])(
    'may not have the name %s',
    async (plan) => {
      expectProblem(await put(TERMS, {}, plan), 400, 'validation_failed');
      expectProblem(await get(plan), 404, 'plan_not_found');
      expectProblem(await remove({}, plan), 404, 'plan_not_found');
    },
  );

  it.each<[string, unknown]>([
    ['/limits', {}],
    ...[undefined, 0, 'many', [], {}, { perMinute: 1 }, { perDay: 1 }].map(
      (limits) => ['/limits', { limits }] as const,
    ),
    ...[0, -1, 1.5, '1', null, 1_000_000_001].flatMap((odd) => [
      ['/limits', { limits: { perMinute: odd, perDay: 1 } }] as const,
      ['/limits', { limits: { perMinute: 1, perDay: odd } }] as const,
    ]),
    ...[0, -1, 1.5, '1', MAX + 1].map((odd) => ['/maxStoredBytes', { ...TERMS, maxStoredBytes: odd }] as const),
    ...[-1, 1.5, '1', 101].map((odd) => ['/maxEndpoints', { ...TERMS, maxEndpoints: odd }] as const),
    ...['[]', 'null', '"gold"'].map((text) => ['', text] as const),
  ] as [string, unknown][])('are refused for %s: %j', async (pointer, body) => {
    const { errors } = expectProblem(await put(body as object | string), 400, 'validation_failed');
    expect(errors).toMatchObject([{ pointer, detail: expect.stringMatching(/^\S.*\.$/) as string }]);
    expectProblem(await get(), 404, 'plan_not_found');
  });

  it.each<object>([
    { limits: null },
    { limits: { perMinute: 1, perDay: 1 } },
    { limits: { perMinute: 1_000_000_000, perDay: 1_000_000_000 }, maxStoredBytes: MAX, maxEndpoints: 100 },
    { limits: null, maxStoredBytes: null, maxEndpoints: 0 },
    { limits: LIMITS, maxStoredBytes: 1, accounts: 5, name: 'other' },
  ])('may say %j', async (terms) => {
    expect((await put(terms)).status).toBe(201);
    const { accounts: _accounts, name: _name, ...expected } = terms as Json;
    expect((await get()).body).toMatchObject({ name, accounts: 0, ...expected });
  });

  describe('are not lost when two operators change one', () => {
    it.each([
      ['If-Match', (etag: string) => ({ 'if-match': etag })],
      ['one of several tags', (etag: string) => ({ 'if-match': `"0", W/${etag}, ${etag}` })],
    ])('with %s', async (_what, headers) => {
      const { etag = '' } = (await put(TERMS)).headers as { etag?: string };
      const responses = await Promise.all(
        [10, 11, 12, 13].map((perMinute, at) =>
          put({ limits: { perMinute, perDay: 50 } }, headers(etag), name, at % 2 === 0 ? api : other),
        ),
      );
      expect(statusesOf(responses)).toEqual([200, 412, 412, 412]);
      for (const response of responses.filter(({ status }) => status === 412)) {
        expectProblem(response, 412, 'plan_changed');
      }
      expect((await get()).body).toEqual(responses.find(({ status }) => status === 200)?.body);
      expect(await actions()).toEqual(['plan.changed', 'plan.created']);
      expectProblem(await remove(headers(etag)), 412, 'plan_changed');
    });

    it('nor when both create it with If-None-Match', async () => {
      const create = (perMinute: number) =>
        put({ limits: { perMinute, perDay: 50 } }, { 'if-none-match': '*' }, name, perMinute % 2 === 0 ? api : other);
      expect(statusesOf(await Promise.all([1, 2, 3, 4].map(create)))).toEqual([201, 412, 412, 412]);
    });

    it('nor by a tag of one that was deleted and created again', async () => {
      const { etag } = (await put(TERMS)).headers;
      expect((await remove()).status).toBe(204);
      await put(TERMS);
      expectProblem(await put({ limits: null }, { 'if-match': String(etag) }), 412, 'plan_changed');
    });

    it.each(['"1"', '*'])('and none is created with If-Match: %s', async (tag) => {
      expectProblem(await put(TERMS, { 'if-match': tag }), 412, 'plan_changed');
      expectProblem(await get(), 404, 'plan_not_found');
    });

    it('and a request that was carried out can be repeated', async () => {
      const { etag } = (await put(TERMS, { 'if-none-match': '*' })).headers;
      expect((await put(TERMS, { 'if-none-match': '*' })).status).toBe(200);
      for (let time = 0; time < 2; time++) {
        expect((await put({ limits: null }, { 'if-match': String(etag) })).status).toBe(200);
      }
      expect(await actions()).toEqual(['plan.changed', 'plan.created']);
    });

    it.each([
      { 'if-match': '1' },
      { 'if-match': '' },
      { 'if-match': '"1",' },
      { 'if-match': '"1"', 'if-none-match': '*' },
      { 'if-none-match': '"1"' },
    ])('and %j is 400', async (headers) => {
      expectProblem(await put(TERMS, headers), 400, 'validation_failed');
    });
  });

  describe('that are deleted', () => {
    it('are gone, and can be created again', async () => {
      await put(TERMS);
      expect((await remove({ 'if-match': '*' })).status).toBe(204);
      expectProblem(await remove(), 404, 'plan_not_found');
      expect((await put(TERMS)).status).toBe(201);
      expect(await actions()).toEqual(['plan.created', 'plan.deleted', 'plan.created']);
    });

    it('must be in use by no account, and not be SIGNUP_PLAN', async () => {
      await put(TERMS);
      const { id } = await api.signUp('free');
      await move(id);
      expectProblem(await remove(), 409, 'plan_in_use');
      await move(id, 'pro');
      expect((await remove()).status).toBe(204);
      await api.sql('DELETE FROM sluice.api_keys; DELETE FROM sluice.accounts');
      expectProblem(await remove({}, 'free'), 409, 'plan_in_use');
    });

    it('while accounts are moved to them: they get either', async () => {
      const accounts = await Promise.all(Array.from({ length: 4 }, () => api.signUp('free')));
      for (let round = 0; round < 15; round++) {
        await put(TERMS);
        const [removed, ...moved] = await Promise.all([
          remove(),
          ...accounts.map(({ id }, at) =>
            (at % 2 === 0 ? api : other).ask(OPERATOR, `PATCH /admin/accounts/${id}`, { plan: name }),
          ),
        ]);
        for (const response of moved) {
          if (response.status !== 200) {
            const { errors } = expectProblem(response, 400, 'validation_failed');
            expect(errors).toMatchObject([{ pointer: '/plan' }]);
          }
        }
        if (removed.status !== 204) expectProblem(removed, 409, 'plan_in_use');
        const isMoved = moved.some(({ status }) => status === 200);
        // Only if it was deleted before any account had it, or after none did.
        expect(removed.status === 204 && isMoved).toBe(false);
        for (const { id } of accounts) await move(id, 'pro');
      }
    });
  });

  it('are named by an account\u2019s change to an unknown one', async () => {
    const { id } = await api.signUp('free');
    const detail = async () => {
      const { errors } = expectProblem(await move(id, 'nothing'), 400, 'validation_failed');
      const [error] = errors as { pointer: string; detail: string }[];
      expect(error?.pointer).toBe('/plan');
      return error?.detail ?? '';
    };
    expect(await detail()).toMatch(/^plan must be one of .*business, .*enterprise, .*free, .*pro/);
    await api.sql(
      `INSERT INTO sluice.plans (name, individual, per_minute, per_day)
       SELECT 'many-' || n, true, 1, 1 FROM generate_series(1, 100) n`,
    );
    expect(await detail()).toMatch(/ or another one of GET \/admin\/plans\.$/);
    expect((await detail()).length).toBeLessThan(2_500);
    await api.sql(`DELETE FROM sluice.plans WHERE name LIKE 'many-%'`);
  });

  it('without limits keep those that they had, until others are agreed', async () => {
    await put(TERMS);
    const { id, key } = await api.signUp('free');
    expectProblem(await move(id, name, { limits: LIMITS }), 400, 'validation_failed');
    await move(id);
    await put({ limits: null });
    expect((await api.ask(key)).body).toMatchObject({ plan: name, limits: LIMITS });
    const counted = async () => (await api.ask(key)).headers['x-ratelimit-limit'];
    expect(await counted()).toBe('5');
    const agreed = { perMinute: 7, perDay: 70 };
    expect((await move(id, name, { limits: agreed })).body).toMatchObject({ limits: agreed });
    expect(await counted()).toBe('7');
    await put({ limits: { perMinute: 6, perDay: 50 } });
    expect(await counted()).toBe('6');
    await put({ limits: null });
    expect(await counted()).toBe('7');
    expect((await api.ask(key)).body).toMatchObject({ limits: agreed });
  });

  it('say how many endpoints an account may have', async () => {
    const { id, key } = await api.signUp('free');
    let hosts = 0;
    const create = () => api.ask(key, 'POST /endpoints', { url: `https://example.com/${++hosts}` });
    await put({ limits: LIMITS, maxEndpoints: 1 });
    await move(id);
    expect((await create()).status).toBe(201);
    expect(expectProblem(await create(), 409, 'too_many_endpoints').detail).toContain('at most 1 endpoint');
    await put({ limits: { perMinute: 100, perDay: 100 }, maxEndpoints: 3 });
    expect(statusesOf(await Promise.all([create(), create(), create()]))).toEqual([201, 201, 409]);
    await put({ limits: { perMinute: 100, perDay: 100 }, maxEndpoints: 0 });
    expectProblem(await create(), 409, 'too_many_endpoints');
    expect((await api.ask(key, 'GET /endpoints')).body.data).toHaveLength(3);
  });
});
