import { expectProblem, OPERATOR, ownApi, pageOf, pagesOf, type Account } from '../../support/api.js';

describe('Operators', () => {
  const api = ownApi();
  beforeAll(async () => {
    for (let count = 0; count < 5; count++) accounts.push(await api.signUp('free'));
  });
  const accounts: Account[] = [];

  const ask = (route: string) => api.ask(OPERATOR, route);
  const newestFirst = () => accounts.map(({ id }) => id).reverse();

  it('see all accounts, newest first', async () => {
    const { data, nextCursor } = pageOf(await ask('GET /admin/accounts'));

    expect(data.map(({ id }) => id)).toEqual(newestFirst());
    expect(nextCursor).toBeNull();
    expect(data[0]).toEqual({
      ...{ id: accounts[4]?.id, name: 'Test', plan: 'free', limits: { perMinute: 60, perDay: 1_000 } },
      ...{ suspended: false, delivery: 'handler', paused: false, externalId: null },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    });
  });

  it('page through them', async () => {
    const pages = await pagesOf(api, OPERATOR, '/admin/accounts', 2);
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(pages.flat().map(({ id }) => id)).toEqual(newestFirst());
    expect(await pagesOf(api, OPERATOR, '/admin/accounts', 5)).toHaveLength(1);
  });

  it('see those that are suspended, page by page', async () => {
    expect(await pagesOf(api, OPERATOR, '/admin/accounts?suspended=true', 2)).toEqual([[]]);
    const suspended = [accounts[0], accounts[2], accounts[3]].map((account) => account?.id ?? '');
    for (const id of suspended) await api.ask(OPERATOR, `PATCH /admin/accounts/${id}`, { suspended: true });
    const pages = await pagesOf(api, OPERATOR, '/admin/accounts?suspended=true', 2);
    expect(pages.map((page) => page.map(({ id }) => id))).toEqual([[suspended[2], suspended[1]], [suspended[0]]]);
    for (const id of suspended) await api.ask(OPERATOR, `PATCH /admin/accounts/${id}`, { suspended: false });
  });

  it.each(['limit=0', 'cursor=x', 'cursor=a2V5XzE', 'suspended=false', 'suspended=', 'suspended=true&suspended=true'])(
    'get 400 validation_failed when they ask for %s',
    async (query) => {
      expectProblem(await ask(`GET /admin/accounts?${query}`), 400, 'validation_failed');
    },
  );

  it('see one account, as it is in the list', async () => {
    const [newest] = pageOf(await ask('GET /admin/accounts')).data;
    const response = await ask(`GET /admin/accounts/${String(newest?.id)}`);
    expect(response.status).toBe(200);
    expect(response.body).toEqual(newest);
  });

  it.each([
    ['unknown', () => 'acct_01h455vb4pex5vsknk084sn02q'],
    ['malformed', () => 'nothing'],
    ['of a key', () => accounts[0]?.keyId ?? ''],
    ['in upper case', () => accounts[0]?.id.toUpperCase() ?? ''],
    ['with U+0000', () => `${accounts[0]?.id ?? ''}%00`],
  ])('get 404 account_not_found when the id is %s', async (_name, id) => {
    expectProblem(await ask(`GET /admin/accounts/${id()}`), 404, 'account_not_found');
    const patch = await api.ask(OPERATOR, `PATCH /admin/accounts/${id()}`, { plan: 'pro' });
    expectProblem(patch, 404, 'account_not_found');
  });
});
