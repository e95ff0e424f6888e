import { OPERATORS_KEY, Service, type Process, type SignedUp } from '../../support/accounts.js';
import { expectProblem } from '../../support/api.js';

const OPERATORS_ROUTES = [
  'GET /admin/accounts',
  'GET /admin/accounts/any',
  'PATCH /admin/accounts/any',
  'GET /admin/bans',
  'DELETE /admin/bans/any',
];

describe('Routes for operators', () => {
  let service: Service;
  let withoutOperators: Process;
  let account: SignedUp;

  beforeAll(async () => {
    service = await Service.start();
    withoutOperators = await service.join({ ADMIN_API_KEY: '' });
    account = await service.signUp({ perMinute: 1_000, perDay: 1_000 });
  });
  afterAll(() => service.stop());

  it.each(OPERATORS_ROUTES)('answer 404 not_found to %s when there is no ADMIN_API_KEY', async (route) => {
    for (const key of [OPERATORS_KEY, account.key, 'anything']) {
      expectProblem(await withoutOperators.ask(key, route), 404, 'not_found');
    }
    const [method, path] = route.split(' ') as [string, string];
    expectProblem(await withoutOperators.call({ method, path }), 404, 'not_found');
  });

  it.each(OPERATORS_ROUTES)('answer 401 unauthorized to %s with a wrong key, or none', async (route) => {
    const wrong = [`${OPERATORS_KEY}x`, OPERATORS_KEY.slice(1), OPERATORS_KEY.toUpperCase(), account.key, 'slc_', 'x'];
    for (const key of wrong) {
      const answer = await service.ask(key, route, '{');
      expectProblem(answer, 401, 'unauthorized');
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="sluice", error="invalid_token"');
    }
    const [method, path] = route.split(' ') as [string, string];
    const strange: (string | undefined)[] = [undefined, OPERATORS_KEY, `Basic ${OPERATORS_KEY}`, 'Bearer', 'Bearer '];
    for (const authorization of strange) {
      const answer = await service.call({ method, path, headers: { authorization } });
      expectProblem(answer, 401, 'unauthorized');
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="sluice"');
    }
  });

  it("answer an operator with the operators' window, which no account shares", async () => {
    const { headers } = await service.ask(OPERATORS_KEY, 'GET /admin/accounts');
    expect(headers['x-ratelimit-limit']).toBe('6000');
    expect(headers['ratelimit-policy']).toBe('"minute";q=6000;w=60');
    const own = await service.ask(account.key, 'GET /admin/accounts');
    expect(own.headers['x-ratelimit-limit']).toBe('1000');
  });

  it.each([
    'GET /account',
    'GET /account/usage',
    'POST /account/simulate',
    'GET /api-keys',
    'POST /api-keys',
    'POST /api-keys/any/rotate',
    'DELETE /api-keys/any',
    'GET /messages',
    'POST /messages',
    'GET /messages/any',
  ])("are the only ones for the operators' key: %s answers 401", async (route) => {
    expectProblem(await service.ask(OPERATORS_KEY, route), 401, 'unauthorized');
  });
});
