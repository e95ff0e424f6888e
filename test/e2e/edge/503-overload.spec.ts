import { expectProblem, startTestApi, type TestAccount, type TestApi } from '../../support/api.js';
import { call, type Answer } from '../../support/http.js';
import { Link } from '../../support/link.js';

const MAX_WAIT_MS = 200;

describe('while requests wait for longer than MAX_WAIT_MS, every request is answered 503 unavailable at once', () => {
  const link = new Link();
  let api: TestApi;
  let account: TestAccount;

  beforeAll(async () => {
    api = await startTestApi({ MAX_WAIT_MS: String(MAX_WAIT_MS) }, (url) => link.open(url));
    account = await api.signUp();
    // The account is known then, so that what follows waits to be counted.
    await api.sent(account);
  });
  afterAll(async () => {
    await api.stop();
    await link.cut();
  });

  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  /** What is answered after some requests have waited for too long; and what those are answered, when they can be. */
  async function overloaded(ask: () => Promise<Answer>): Promise<{ answer: Answer; waited: Answer[] }> {
    link.stall();
    const waiting: Promise<Answer>[] = [];
    for (let count = 0; count < 4; count++) {
      waiting.push(api.send(account));
      await pause(30);
    }
    await pause(2 * MAX_WAIT_MS);
    const answer = await ask();
    link.resume();
    return { answer, waited: await Promise.all(waiting) };
  }

  it.each([
    ['a message', () => api.send(account, { message: 'refused' })],
    ['one of 60,000 bytes', () => api.send(account, { message: 'refused'.padEnd(60_000, '.') })],
    ['a stranger', () => call(api.url, { path: '/messages' })],
    ['a path that is none', () => call(api.url, { path: '/none', method: 'PUT', body: 'x' })],
  ])('to %s', async (_name, ask) => {
    const { answer, waited } = await overloaded(ask);

    expectProblem(answer, 503, 'unavailable');
    expect(answer.headers).toMatchObject({
      'retry-after': '1',
      'x-ratelimit-remaining': '0',
      'cache-control': 'no-store',
    });
    expect(answer.headers.connection).not.toBe('close');
    expect(waited.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    const refused = await api.sql("SELECT 1 FROM sluice.messages WHERE body LIKE 'refused%'");
    expect(refused).toEqual([]);
  });

  it('and serves again as soon as nothing waits', async () => {
    await overloaded(() => api.send(account));
    expect((await api.send(account)).status).toBe(202);
  });

  it('and closes the connection when the rest of a request would have to be read', async () => {
    const { answer } = await overloaded(() => api.send(account, { message: 'refused'.padEnd(200_000, '.') }));
    expectProblem(answer, 503, 'unavailable');
    expect(answer.headers.connection).toBe('close');
  });
});
