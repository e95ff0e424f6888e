import { accountOf, expectProblem, joinedApi, OPERATOR, sharedApi } from '../../support/api.js';
import { OPERATIONS } from '../../support/documented.js';

/** The routes that need a key, by whose key it is. */
const routesOf = (whose: 'operatorsKey' | 'apiKey') =>
  OPERATIONS.filter(({ security }) => security.some((one) => whose in one)).map(
    ({ method, path }) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, 'any')}`,
  );
const OPERATORS_ROUTES = routesOf('operatorsKey');

describe('Routes for operators', () => {
  const api = sharedApi();
  const account = accountOf(api, { perMinute: 1_000, perDay: 1_000 });

  const withoutOperators = joinedApi(api, { ADMIN_API_KEY: '' });

  it('are those below /admin', () => {
    const below = OPERATIONS.filter(({ path }) => path.startsWith('/admin/'));
    expect(OPERATORS_ROUTES).toHaveLength(below.length);
    for (const route of OPERATORS_ROUTES) expect(route).toMatch(/^[A-Z]+ \/admin\//);
  });

  it.each(OPERATORS_ROUTES)('respond 404 not_found to %s when there is no ADMIN_API_KEY', async (route) => {
    for (const key of [OPERATOR, account.key, 'anything']) {
      expectProblem(await withoutOperators.ask(key, route), 404, 'not_found');
    }
    expectProblem(await withoutOperators.ask(null, route), 404, 'not_found');
  });

  it.each(OPERATORS_ROUTES)('respond 401 unauthorized to %s with a wrong key, or none', async (route) => {
    const wrong = [`${OPERATOR.key}x`, OPERATOR.key.slice(1), OPERATOR.key.toUpperCase(), account.key, 'slc_', 'x'];
    for (const key of wrong) {
      const response = await api.ask(key, route, '{');
      expectProblem(response, 401, 'unauthorized');
      expect(response.headers['www-authenticate']).toBe('Bearer realm="sluice", error="invalid_token"');
    }
    for (const authorization of [undefined, OPERATOR.key, `Basic ${OPERATOR.key}`, 'Bearer', 'Bearer ']) {
      const response = await api.ask(null, route, undefined, { authorization });
      expectProblem(response, 401, 'unauthorized');
      expect(response.headers['www-authenticate']).toBe('Bearer realm="sluice"');
    }
  });

  it("show an operator the operators' window, which no account shares", async () => {
    const { headers } = await api.ask(OPERATOR, 'GET /admin/accounts');
    expect(headers['x-ratelimit-limit']).toBe('6000');
    expect(headers['ratelimit-policy']).toBe('"minute";q=6000;w=60');
    const own = await api.ask(account.key, 'GET /admin/accounts');
    expect(own.headers['x-ratelimit-limit']).toBe('1000');
  });

  it.each(routesOf('apiKey'))("are the only ones for the operators' key: %s responds 401", async (route) => {
    expectProblem(await api.ask(OPERATOR, route), 401, 'unauthorized');
  });
});
