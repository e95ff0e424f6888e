import { OPERATOR, sharedApi } from '../../support/api.js';

describe('GET /account responds 200', () => {
  const api = sharedApi();

  it('with the account of the key, and nothing else', async () => {
    const [account] = [await api.signUp('free'), await api.signUp('free')];
    const response = await api.ask(account.key, 'GET /account');
    const { createdAt, ...rest } = response.body;

    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    const limits = { perMinute: 60, perDay: 1_000 };
    expect(rest).toEqual({ id: account.id, name: 'Test', plan: 'free', limits, delivery: 'handler', paused: false });
    expect(new Date(createdAt as string).toISOString()).toBe(createdAt);
    expect(Math.abs(Date.parse(createdAt as string) - Date.now())).toBeLessThan(60_000);
  });

  it('as operators get it, but for the suspension, with limits that were agreed individually', async () => {
    const account = await api.signUp({ perMinute: 7, perDay: 70 });
    const own = (await api.ask(account.key, 'GET /account')).body;
    expect(own).toMatchObject({ plan: 'enterprise', limits: { perMinute: 7, perDay: 70 } });
    const operators = await api.ask(OPERATOR, `GET /admin/accounts/${account.id}`);
    expect(operators.body).toEqual({ ...own, suspended: false, externalId: null });
  });
});
