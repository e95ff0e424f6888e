import { setTimeout as sleep } from 'node:timers/promises';
import { accountOf, expectProblem, ownApi } from '../../support/api.js';
import { call, type HttpResponse } from '../../support/http.js';
import { Link } from '../../support/link.js';

describe('while requests wait for longer than MAX_WAIT_MS for more than a second, every request gets 503 unavailable at once', () => {
  const link = new Link();
  const api = ownApi({ MAX_WAIT_MS: '200' }, link);
  const account = accountOf(api);
  beforeAll(async () => {
    // The account is cached then, so that later requests wait to be counted.
    await api.sent(account);
  });

  /** The response once requests have waited too long for more than a second. */
  async function overloaded(ask: () => Promise<HttpResponse>): Promise<HttpResponse> {
    // Afterwards, earlier waits no longer count.
    await sleep(1_100);
    link.stall();
    const waiting: Promise<HttpResponse>[] = [];
    for (let count = 0; count < 6; count++) {
      waiting.push(api.send(account));
      await sleep(400);
    }
    const response = await ask();
    link.resume();
    await Promise.all(waiting);
    return response;
  }

  it.each([
    ['a message of 60,000 bytes', () => api.send(account, { message: 'refused'.padEnd(60_000, '.') })],
    ['an anonymous client', () => call(api.url, { path: '/messages' })],
  ])('to %s', async (_name, ask) => {
    const response = await overloaded(ask);

    expectProblem(response, 503, 'unavailable');
    expect(response.headers).toMatchObject({ 'retry-after': '1', 'x-ratelimit-remaining': '0' });
    expect(response.headers.connection).not.toBe('close');
    expect(await api.sql("SELECT 1 FROM sluice.messages WHERE text LIKE 'refused%'")).toEqual([]);
  });

  it('and serves again as soon as nothing waits for so long', async () => {
    await overloaded(() => api.send(account));
    expect((await api.send(account)).status).toBe(202);
  });

  it('and closes the connection when the rest of a request would have to be read', async () => {
    const response = await overloaded(() => api.send(account, { message: 'refused'.padEnd(200_000, '.') }));
    expectProblem(response, 503, 'unavailable');
    expect(response.headers.connection).toBe('close');
  });
});
