import { accountForEach, expectProblem, joinedApi, OPERATOR, ownApi } from '../../support/api.js';
import { pageOf, pagesOf, statusesOf, type Account, type TestApi } from '../../support/api.js';
import { until } from '../../support/processes.js';

const HOUR_MS = 3_600_000;

describe('Operators', () => {
  const api = ownApi();
  const other = joinedApi(api);
  const account = accountForEach(api, 'free');
  beforeEach(() => api.sql('DELETE FROM sluice.offences'));

  const ask = (route: string, process: TestApi = api) => process.ask(OPERATOR, route);
  const list = async () => pageOf(await ask('GET /admin/bans')).data;
  const lift = (id: string, process?: TestApi) => ask(`DELETE /admin/bans/${id}`, process);
  const use = (process: TestApi = api) => process.ask(account.key, 'GET /account');

  /** Bans a key as the limiter does. */
  const ban = async ({ id, keyId }: Account, until = Date.now() + HOUR_MS / 2) => {
    const since = until - HOUR_MS / 2;
    await api.sql(
      `INSERT INTO sluice.offences (key_id, account_id, bans, banned_at_ms, banned_until_ms, reason)
       VALUES ($1, $2, 1, $3, $4, 'went on')`,
      [keyId, id, since, until],
    );
    const [bannedAt, bannedUntil] = [since, until].map((ms) => new Date(ms).toISOString());
    return { keyId, accountId: id, reason: 'went on', bannedAt, bannedUntil };
  };

  it('see the bans that are in force, and why, and no other offences', async () => {
    await ban(await api.signUp('free'), Date.now() - 1);
    await api.sql("INSERT INTO sluice.offences (key_id, account_id, strikes) VALUES ('key_1', 'acct_1', 29)");
    expect(await list()).toEqual([]);
    const banned = await ban(account);
    expect(await list()).toEqual([banned]);
  });

  it('page through them, the newest keys first', async () => {
    const accounts = [account, await api.signUp('free'), await api.signUp('free')];
    for (const one of accounts) await ban(one);
    const pages = await pagesOf(api, OPERATOR, '/admin/bans', 2);

    expect(pages.map((page) => page.length)).toEqual([2, 1]);
    expect(pages.flat().map(({ keyId }) => keyId)).toEqual(accounts.map(({ keyId }) => keyId).reverse());
  });

  it('see those of one account', async () => {
    const second = await api.createKey(account.key);
    const bans = [await ban(account), await ban({ ...account, keyId: second.id })];
    await ban(await api.signUp('free'));
    const pages = await pagesOf(api, OPERATOR, `/admin/bans?accountId=${account.id}`, 1);
    expect(pages).toEqual([[bans[1]], [bans[0]]]);
    expect(await pagesOf(api, OPERATOR, `/admin/bans?accountId=acct_01h455vb4pex5vsknk084sn02q`, 1)).toEqual([[]]);
  });

  it.each([
    'limit=0',
    'cursor=x',
    'cursor=YWNjdF8x',
    'accountId=x',
    'accountId=',
    'accountId=key_01h455vb4pex5vsknk084sn02q',
  ])('get 400 validation_failed when they ask for %s', async (query) => {
    expectProblem(await ask(`GET /admin/bans?${query}`), 400, 'validation_failed');
  });

  it('lift a ban with 204, and the key works again within seconds on every process', async () => {
    await ban(account);
    for (const process of [api, other]) expectProblem(await use(process), 429, 'api_key_banned');
    const response = await lift(account.keyId);

    expect(response.status).toBe(204);
    expect(response.bytes).toHaveLength(0);
    expect(await list()).toEqual([]);
    for (const process of [api, other]) await until(async () => (await use(process)).status === 200);
  });

  it('lift it once, however many try, and no other ban', async () => {
    await ban(account);
    const stays = await ban(await api.signUp('free'));
    const responses = await Promise.all(Array.from({ length: 6 }, (_, n) => lift(account.keyId, n % 2 ? api : other)));
    expect(statusesOf(responses)).toEqual([204, ...Array<number>(5).fill(404)]);
    expect(await list()).toEqual([stays]);
  });

  it('get 404 ban_not_found when a ban has ended on its own', async () => {
    await ban(account, Date.now() - 1);
    expectProblem(await lift(account.keyId), 404, 'ban_not_found');
  });

  it.each([
    ['unknown', () => 'key_01h455vb4pex5vsknk084sn02q'],
    ['malformed', () => 'nothing'],
    ['of an account', () => account.id],
    ['with U+0000', () => `${account.keyId}%00`],
  ])('get 404 ban_not_found when the id is %s', async (_name, id) => {
    const stays = await ban(account);
    expectProblem(await lift(id()), 404, 'ban_not_found');
    expect(await list()).toEqual([stays]);
  });
});
