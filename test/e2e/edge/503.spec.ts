import { expectProblem, startTestApi, type TestAccount, type TestApi } from '../../support/api.js';
import { Link } from '../../support/link.js';

const ID = 'msg_01h455vb4pex5vsknk084sn02q';

describe('while the database is away', () => {
  const link = new Link();
  let api: TestApi;
  let account: TestAccount;
  let unseen: TestAccount;

  beforeAll(async () => {
    api = await startTestApi({}, (url) => link.open(url));
    [account, unseen] = [await api.signUp(), await api.signUp()];
    await api.sent(account);
    await link.cut();
  });
  afterAll(async () => {
    await link.restore();
    await api.stop();
    await link.cut();
  });

  it.each([
    ['GET', '/messages'],
    ['GET', `/messages/${ID}`],
    ['POST', `/messages/${ID}/cancel`],
    ['POST', `/messages/${ID}/retry`],
    ['POST', '/messages'],
    ['POST', '/accounts'],
  ])('%s %s is answered 503 unavailable with Retry-After', async (method, path) => {
    const request = {
      method,
      path,
      headers: { 'content-type': 'application/json' },
      body: '{"message":"x","name":"x"}',
    };
    for (const caller of [account, unseen]) {
      const answer = await api.as(caller, request);
      expectProblem(answer, 503, 'unavailable');
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    }
  });

  it('what needs no database is answered as ever', async () => {
    expectProblem(
      await api.call({ path: '/messages', headers: { authorization: 'Bearer wrong' } }),
      401,
      'unauthorized',
    );
    expectProblem(await api.call({ path: '/unknown' }), 404, 'not_found');
    expectProblem(await api.call({ method: 'PUT', path: '/messages' }), 405, 'method_not_allowed');
  });
});
