import { accountOf, expectProblem, ownApi } from '../../support/api.js';
import { Link } from '../../support/link.js';

const ID = 'msg_01h455vb4pex5vsknk084sn02q';

describe('while the database is away', () => {
  const link = new Link();
  const api = ownApi({}, link);
  const account = accountOf(api);
  const unseen = accountOf(api);
  beforeAll(async () => {
    await api.sent(account);
    await link.cut();
  });

  it.each([
    ['GET', '/messages'],
    ['GET', `/messages/${ID}`],
    ['POST', `/messages/${ID}/cancel`],
    ['POST', `/messages/${ID}/retry`],
    ['POST', '/messages'],
    ['POST', '/accounts'],
  ])('%s %s gets 503 unavailable with Retry-After', async (method, path) => {
    for (const caller of [account, unseen]) {
      const answer = await api.ask(caller, `${method} ${path}`, { message: 'x', name: 'x' });
      expectProblem(answer, 503, 'unavailable');
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    }
  });

  it('what needs no database is answered as ever', async () => {
    expectProblem(
      await api.ask(null, 'GET /messages', undefined, { authorization: 'Bearer wrong' }),
      401,
      'unauthorized',
    );
    expectProblem(await api.ask(null, 'GET /unknown'), 404, 'not_found');
    expectProblem(await api.ask(null, 'PUT /messages'), 405, 'method_not_allowed');
  });
});
