import { accountForEach, expectProblem, joinedApi, OPERATOR, sharedApi, type TestApi } from '../../support/api.js';
import { until } from '../../support/processes.js';

const FREE = { plan: 'free', limits: { perMinute: 60, perDay: 1_000 } };
/** A second, and time for a busy machine; long before the window ends, after which everything is admitted. */
const SOON_MS = 30_000;

describe('PATCH /admin/accounts/:id', () => {
  const api = sharedApi();
  const other = joinedApi(api);
  const account = accountForEach(api, 'free');

  const patch = (body: object | string) => api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, body);
  const patched = async (body: object) => {
    const response = await patch(body);
    expect(response.status).toBe(200);
    return response.body;
  };
  const use = (process: TestApi = other) => process.ask(account.key, 'GET /account');
  const current = async () => (await api.ask(OPERATOR, `GET /admin/accounts/${account.id}`)).body;

  it.each([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
    ['enterprise', 1_000, 100_000],
  ])('responds 200 with the account on the plan %s and its limits', async (plan, perMinute, perDay) => {
    const before = await current();
    const response = await patched({ plan });
    expect(response).toEqual({ ...before, plan, limits: { perMinute, perDay } });
    expect(await current()).toEqual(response);
  });

  it('holds with the next request on every process', async () => {
    for (const process of [api, other]) expect((await use(process)).headers['x-ratelimit-limit']).toBe('60');
    await patched({ plan: 'pro' });
    for (const process of [other, api]) {
      const { headers, body } = await use(process);
      expect(headers['ratelimit-policy']).toBe('"minute";q=300;w=60, "day";q=10000;w=86400');
      expect(body).toMatchObject({ plan: 'pro' });
    }
    await patched({ plan: 'enterprise', limits: { perMinute: 9, perDay: 99 } });
    for (const process of [other, api]) expect((await use(process)).headers['x-ratelimit-limit']).toBe('9');
  });

  it('takes along what was used', async () => {
    for (let request = 0; request < 3; request++) await use();
    await patched({ plan: 'pro' });
    expect((await use()).headers['x-ratelimit-remaining']).toBe('296');
    await patched({ plan: 'enterprise', limits: { perMinute: 4, perDay: 100 } });
    for (const process of [other, api]) expectProblem(await use(process), 429, 'rate_limit_exceeded');
  });

  it('admits a caller within seconds who was refused before', async () => {
    await patched({ plan: 'enterprise', limits: { perMinute: 1, perDay: 1 } });
    await use();
    for (const process of [api, other]) expect((await use(process)).status).toBe(429);
    await patched({ plan: 'pro' });
    for (const process of [api, other]) await until(async () => (await use(process)).status === 200, SOON_MS);
  });

  it('responds 200 with limits that were agreed individually, with enterprise', async () => {
    const limits = { perMinute: 5_000, perDay: 1_000_000_000 };
    expect(await patched({ plan: 'enterprise', limits })).toMatchObject({ plan: 'enterprise', limits });
    expect(await patched({ limits: { perMinute: 2, perDay: 1, more: 3 } })).toMatchObject({
      limits: { perMinute: 2, perDay: 1 },
    });
  });

  it.each([{}, { plan: null, limits: null }, { id: 'other', createdAt: 'never' }])(
    'responds 200 to %j with the account unchanged',
    async (body) => {
      const before = await current();
      expect(await patched(body)).toEqual(before);
    },
  );

  describe('responds 400 validation_failed and changes nothing', () => {
    afterEach(async () => {
      expect(await current()).toMatchObject(FREE);
    });
    const refused = async (body: object | string, pointer: string) => {
      const { errors } = expectProblem(await patch(body), 400, 'validation_failed');
      expect(errors).toEqual([{ pointer, detail: expect.stringMatching(/^\S.*\.$/) as string }]);
    };

    it.each(['pro', undefined])('to limits with the plan %s', async (plan) => {
      await refused({ plan, limits: { perMinute: 1, perDay: 1 } }, '/limits');
    });

    it.each(['', 'Pro', 'gold', 1, ['pro']])('to the plan %j', async (plan) => {
      await refused({ plan }, '/plan');
    });

    it.each([{}, { perMinute: 1 }, [1, 1], 'many', { perMinute: 0, perDay: 1 }, { perMinute: 1, perDay: '1' }])(
      'to the limits %j',
      async (limits) => {
        await refused({ plan: 'enterprise', limits }, '/limits');
      },
    );

    it.each(['null', '[]', '"pro"'])('to %s instead of an object', async (body) => {
      await refused(body, '');
    });
  });

  it('responds 400 invalid_json to invalid JSON', async () => {
    expectProblem(await patch('{'), 400, 'invalid_json');
  });
});
