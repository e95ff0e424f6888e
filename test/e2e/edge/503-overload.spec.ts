import { accountOf, expectProblem, ownApi } from '../../support/api.js';
import { call, type Answer } from '../../support/http.js';
import { Link } from '../../support/link.js';

const MAX_WAIT_MS = 200;

describe('while requests wait for longer than MAX_WAIT_MS for more than a second, every request gets 503 unavailable at once', () => {
  const link = new Link();
  const api = ownApi({ MAX_WAIT_MS: String(MAX_WAIT_MS) }, link);
  const account = accountOf(api);
  beforeAll(async () => {
    // The account is known then, so that what follows waits to be counted.
    await api.sent(account);
  });

  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  /** What is answered when requests have waited for too long for more than a second. */
  async function overloaded(ask: () => Promise<Answer>): Promise<Answer> {
    // What waited before is forgotten then.
    await pause(1_100);
    link.stall();
    const waiting: Promise<Answer>[] = [];
    for (let count = 0; count < 6; count++) {
      waiting.push(api.send(account));
      await pause(400);
    }
    const answer = await ask();
    link.resume();
    await Promise.all(waiting);
    return answer;
  }

  it.each([
    ['a message of 60,000 bytes', () => api.send(account, { message: 'refused'.padEnd(60_000, '.') })],
    ['a stranger', () => call(api.url, { path: '/messages' })],
  ])('to %s', async (_name, ask) => {
    const answer = await overloaded(ask);

    expectProblem(answer, 503, 'unavailable');
    expect(answer.headers).toMatchObject({
      'retry-after': '1',
      'x-ratelimit-remaining': '0',
      'cache-control': 'no-store',
    });
    expect(answer.headers.connection).not.toBe('close');
    const refused = await api.sql("SELECT 1 FROM sluice.messages WHERE text LIKE 'refused%'");
    expect(refused).toEqual([]);
  });

  it('and serves again as soon as nothing waits for so long', async () => {
    await overloaded(() => api.send(account));
    expect((await api.send(account)).status).toBe(202);
  });

  it('and closes the connection when the rest of a request would have to be read', async () => {
    const answer = await overloaded(() => api.send(account, { message: 'refused'.padEnd(200_000, '.') }));
    expectProblem(answer, 503, 'unavailable');
    expect(answer.headers.connection).toBe('close');
  });
});
