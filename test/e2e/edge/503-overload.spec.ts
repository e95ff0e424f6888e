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

describe('requests with an Idempotency-Key', () => {
  const api = ownApi({ MAX_WAIT_MS: '200' });
  const account = accountOf(api);
  const send = (key: string) => api.send(account, { headers: { 'idempotency-key': key } });
  const sendEach100Ms = async (count: number, name: string) => {
    const sent: Promise<HttpResponse>[] = [];
    for (let index = 0; index < count; index++) {
      sent.push(send(`${name}-${index}`));
      await sleep(100);
    }
    return sent;
  };

  it('get 503 as well while they wait for too long to be stored', async () => {
    await api.sql(`
      CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.4); RETURN NEW; END $$;
      CREATE TRIGGER dawdle BEFORE INSERT ON sluice.messages FOR EACH ROW EXECUTE FUNCTION dawdle()`);
    const sent = await sendEach100Ms(40, 'slow');
    await api.sql('DROP FUNCTION dawdle CASCADE');
    const responses = await Promise.all(sent);

    // Not all: none waits for a moment when a batch has just started.
    const [refused] = responses.filter(({ status }) => status !== 202);
    if (refused === undefined) throw new Error('No request was refused.');
    expectProblem(refused, 503, 'unavailable');
  }, 40_000);

  it('do not count as overload while they wait for the first request with their key', async () => {
    const holdKey = `
      INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, created_at)
      VALUES ($1, 'held', sha256(''), 'msg_under_way', now())`;
    await api.during(holdKey, [account.id], async () => {
      const held = [1, 2, 3].map(() => send('held'));
      const others = await Promise.all(await sendEach100Ms(40, 'other'));
      expect(new Set(others.map(({ status }) => status))).toEqual(new Set([202]));
      await Promise.all(held);
    });
  }, 40_000);
});
