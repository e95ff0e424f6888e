import { setTimeout as sleep } from 'node:timers/promises';
import { accountOf, expectProblem, ownApi, type Account, type TestApi } from '../../support/api.js';
import { call, type HttpResponse } from '../../support/http.js';
import { Link } from '../../support/link.js';

describe('while requests wait for longer than MAX_WAIT_MS for more than a second', () => {
  const link = new Link();
  const api = ownApi({ MAX_WAIT_MS: '200' }, link);
  const account = accountOf(api);
  const waiting: Promise<HttpResponse>[] = [];
  beforeAll(async () => {
    // The account is cached then, so that later requests wait to be counted.
    await api.sent(account);
    link.stall();
    for (let count = 0; count < 6; count++) {
      waiting.push(api.send(account));
      await sleep(400);
    }
  });

  it.each([
    ['a message', 'open', () => api.send(account, { message: 'refused'.padEnd(60_000, '.') })],
    ['an anonymous client', 'open', () => call(api.url, { path: '/messages' })],
    ['a path that cannot be decoded', 'open', () => call(api.url, { path: '/%zz' })],
    ['what would take long to read', 'closed', () => api.send(account, { message: 'refused'.padEnd(200_000, '.') })],
  ])('%s gets 503 unavailable at once, and its connection stays %s', async (_name, connection, ask) => {
    const response = await ask();

    expect(expectProblem(response, 503, 'unavailable').detail).toContain('overloaded');
    expect(response.headers).toMatchObject({ 'retry-after': '1', 'x-ratelimit-remaining': '0' });
    expect(response.headers.connection === 'close').toBe(connection === 'closed');
  });

  it('nothing of these is stored, and requests are served again as soon as none waits for so long', async () => {
    link.resume();
    await Promise.all(waiting);
    expect((await api.send(account)).status).toBe(202);
    expect(await api.sql("SELECT 1 FROM sluice.messages WHERE text LIKE 'refused%'")).toEqual([]);
  });
});

describe('requests with an Idempotency-Key', () => {
  const api = ownApi({ MAX_WAIT_MS: '200' });
  const account = accountOf(api);
  const patient = ownApi({ MAX_WAIT_MS: '2000' });
  const other = accountOf(patient);
  const send = (to: TestApi, by: Account, key: string) => to.send(by, { headers: { 'idempotency-key': key } });
  const sendEach100Ms = async (count: number, to: TestApi, by: Account) => {
    const sent: Promise<HttpResponse>[] = [];
    for (let index = 0; index < count; index++) {
      sent.push(send(to, by, `key-${index}`));
      await sleep(100);
    }
    return sent;
  };

  it('get 503 as well while they wait for too long to be stored', async () => {
    await api.sql(`
      CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.4); RETURN NEW; END $$;
      CREATE TRIGGER dawdle BEFORE INSERT ON sluice.messages FOR EACH ROW EXECUTE FUNCTION dawdle()`);
    const sent = await sendEach100Ms(25, api, account);
    await api.sql('DROP FUNCTION dawdle CASCADE');
    const responses = await Promise.all(sent);

    // Not all: none waits for a moment when a batch has just started.
    const [refused] = responses.filter(({ status }) => status !== 202);
    if (refused === undefined) throw new Error('No request was refused.');
    expectProblem(refused, 503, 'unavailable');
  });

  it('do not count as overload while they wait for the first request with their key', async () => {
    const holdKey = `
      INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, created_at)
      VALUES ($1, 'held', sha256(''), 'msg_under_way', now())`;
    await patient.during(holdKey, [other.id], async () => {
      const held = [1, 2, 3].map(() => send(patient, other, 'held'));
      // For longer than MAX_WAIT_MS and the second after which that counts.
      const others = await Promise.all(await sendEach100Ms(40, patient, other));
      expect(new Set(others.map(({ status }) => status))).toEqual(new Set([202]));
      await Promise.all(held);
    });
  });
});
