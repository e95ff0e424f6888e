import { OPERATORS_KEY, Service } from '../../support/accounts.js';
import { jsonOf } from '../../support/http.js';

describe('GET /account answers 200', () => {
  let service: Service;

  beforeAll(async () => {
    service = await Service.start();
  });
  afterAll(() => service.stop());

  it('with the account of the key, and nothing else', async () => {
    const [account] = [await service.signUp(), await service.signUp()];
    const answer = await service.ask(account.key, 'GET /account');
    const { createdAt, ...rest } = jsonOf(answer);

    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(rest).toEqual({ id: account.id, name: 'Test', plan: 'free', limits: { perMinute: 60, perDay: 1_000 } });
    expect(new Date(createdAt as string).toISOString()).toBe(createdAt);
    expect(Math.abs(Date.parse(createdAt as string) - Date.now())).toBeLessThan(60_000);
  });

  it('with what was agreed individually', async () => {
    const account = await service.signUp({ perMinute: 7, perDay: 70 });
    const body = jsonOf(await service.ask(account.key, 'GET /account'));
    expect(body).toMatchObject({ plan: 'enterprise', limits: { perMinute: 7, perDay: 70 } });
  });

  it('with the bytes that an operator gets', async () => {
    const account = await service.signUp();
    const own = await service.ask(account.key, 'GET /account');
    const operators = await service.ask(OPERATORS_KEY, `GET /admin/accounts/${account.id}`);
    expect(own.bytes.toString()).toBe(operators.bytes.toString());
  });

  it('to each of its keys, on every process', async () => {
    const account = await service.signUp();
    const { key } = await service.createKey(account.key, { scopes: ['account:manage'] });
    const other = await service.join();
    for (const process of [service, other]) {
      expect(jsonOf(await process.ask(key, 'GET /account'))).toMatchObject({ id: account.id });
    }
  });
});
