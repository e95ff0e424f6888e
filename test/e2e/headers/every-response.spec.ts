import { lines, onTheWire } from '../../support/http.js';
import { anotherKey, offender, setWindows } from '../../support/limits.js';
import { expectProblem, OPERATOR, ownApi, type Account } from '../../support/api.js';
import { Link } from '../../support/link.js';
import { expectEveryHeader, lastOf, valuesOf, windowsOf, type WireResponse } from './wire.js';

const ACCOUNT = 'minute day';
const ADDRESS = 'minute';

// Each closes the connection after the response.
const request = (line: string, ...headers: string[]) =>
  lines(`${line} HTTP/1.1`, 'Host: sluice', 'Connection: close', ...headers);
const get = (path: string, ...headers: string[]) => request(`GET ${path}`, ...headers);
const post = (path: string, body: string, ...headers: string[]) => {
  const framing = headers.some((header) => header.startsWith('Transfer')) ? [] : [`Content-Length: ${body.length}`];
  return request(`POST ${path}`, 'Content-Type: application/json', ...framing, ...headers) + body;
};

describe('Every response has each common header once, as it is spelled', () => {
  const link = new Link();
  const settings = {
    ...{ REQUEST_TIMEOUT_MS: '500', MAX_BODY_BYTES: '1024', SIGNUPS_PER_HOUR: '3' },
    ...{ ANONYMOUS_PER_MINUTE: '40', TRUST_PROXY: '127.0.0.1' },
  };
  const api = ownApi(settings, link);
  let holder: Account;
  let key: string;
  let reader: string;
  let delivered: string;
  beforeAll(async () => {
    holder = await api.signUp('free');
    key = `Authorization: Bearer ${holder.key}`;
    reader = `Authorization: Bearer ${(await api.createKey(holder, { scopes: ['messages:read'] })).key}`;
    delivered = (await api.sent(holder, { headers: { 'idempotency-key': 'once' } })).id;
    await api.sql("UPDATE sluice.messages SET status = 'delivered' WHERE id = $1", [delivered]);
  });

  const send = async (text: string) => lastOf(await onTheWire(api.url, text));
  const expectResponse = async (status: number, windows: string, text: string): Promise<WireResponse> => {
    const sentAt = Date.now();
    const response = await send(text);
    expect([response.status, windowsOf(response)]).toEqual([status, windows]);
    expectEveryHeader(response, sentAt);
    return response;
  };

  it.each([
    ['200', () => get('/account', key), ACCOUNT],
    ['200 to HEAD', () => request('HEAD /account', key), ACCOUNT],
    ['200 to operators', () => get('/admin/accounts', `Authorization: Bearer ${OPERATOR.key}`), ADDRESS],
    ['201', () => post('/accounts', '{"name":"x"}'), ADDRESS],
    ['202', () => post('/messages', '{"message":"x"}', key), ACCOUNT],
    ['202 after 100', () => post('/messages', '{"message":"x"}', key, 'Expect: 100-continue'), ACCOUNT],
    ['204', () => request('OPTIONS /messages'), ADDRESS],
    ['204 with a key', () => request('OPTIONS /messages', key), ACCOUNT],
    ['400 for a body', () => post('/messages', '{', key), ACCOUNT],
    ['400 for fields', () => post('/messages', '{}', key), ACCOUNT],
    ['400 for a query', () => get('/messages?limit=0', key), ACCOUNT],
    ['400 for a path', () => get('/%', key), ADDRESS],
    ['400 for a method', () => request('FETCH /'), ADDRESS],
    ['400 for a header', () => get('/account', key, 'Accept'), ADDRESS],
    ['400 for no Host', () => lines('GET / HTTP/1.1', 'Connection: close'), ADDRESS],
    ['400 for an expectation', () => get('/account', key, 'Expect: miracles'), ADDRESS],
    ['400 for CONNECT', () => request('CONNECT example.com:443'), ADDRESS],
    ['400 for chunks', () => post('/messages', 'x', key, 'Transfer-Encoding: chunked'), ADDRESS],
    ['401 without a key', () => get('/account'), ADDRESS],
    ['401 with a wrong key', () => get('/account', 'Authorization: Bearer wrong'), ADDRESS],
    ['401 for operators only', () => get('/admin/bans', key), ACCOUNT],
    ['403', () => get('/account', reader), ACCOUNT],
    ['404', () => get('/unknown', key), ACCOUNT],
    ['404 without a key', () => get('/unknown'), ADDRESS],
    ['404 of a message', () => get('/messages/any', key), ACCOUNT],
    ['405', () => request('DELETE /messages', key), ACCOUNT],
    ['408 for headers', () => 'GET /account HTTP/1.1\r\nHost: sluice\r\n', ADDRESS],
    ['408 for a body', () => post('/messages', '{}', key).slice(0, -1), ACCOUNT],
    ['409', () => post(`/messages/${delivered}/cancel`, '', key), ACCOUNT],
    ['413 by its length', () => post('/messages', 'x'.repeat(2_000), key), ACCOUNT],
    [
      '413 by its chunks',
      () => post('/messages', `800\r\n${'x'.repeat(2_048)}\r\n0\r\n\r\n`, key, 'Transfer-Encoding: chunked'),
      ACCOUNT,
    ],
    ['415', () => post('/messages', '{}', key, 'Content-Encoding: gzip'), ACCOUNT],
    ['422', () => post('/messages', '{"message":"other"}', key, 'Idempotency-Key: once'), ACCOUNT],
    ['431', () => get('/account', key, `X-Large: ${'x'.repeat(20_000)}`), ADDRESS],
  ])('%s', async (name, text, windows) => {
    await expectResponse(Number.parseInt(name), windows, text());
  });

  it('500, without the cause', async () => {
    await api.sql('ALTER TABLE sluice.messages ADD CONSTRAINT broken CHECK (false) NOT VALID');
    await expectResponse(500, ACCOUNT, post('/messages', '{"message":"x"}', key));
    const problem = expectProblem(await api.send(holder), 500, 'internal_error');
    expect(JSON.stringify({ ...problem, type: '' })).not.toMatch(/sql|insert|constraint|body|broken|\.[jt]s|\/|23514/i);
    await api.sql('ALTER TABLE sluice.messages DROP CONSTRAINT broken');
  });

  it('503 while a column is gone, without the cause', async () => {
    await api.sql('ALTER TABLE sluice.messages RENAME COLUMN text TO gone');
    await expectResponse(503, ACCOUNT, get('/messages', key));
    const problem = expectProblem(await api.ask(holder, 'GET /messages'), 503, 'unavailable');
    expect(JSON.stringify({ ...problem, type: '' })).not.toMatch(/sql|select|column|body|gone|\.[jt]s|\/|42703/i);
    await api.sql('ALTER TABLE sluice.messages RENAME COLUMN gone TO text');
  });

  it('429 of a plan, and of a ban', async () => {
    for (const strikes of [0, 29]) {
      const refused = await offender(api, strikes, await anotherKey(api, holder));
      const response = await expectResponse(429, ACCOUNT, get('/account', `Authorization: Bearer ${refused.key}`));
      await setWindows(api, holder, { minuteUsed: 0 });
      expect(valuesOf(response, 'Retry-After')).toEqual([expect.stringMatching(/^(60|5\d)$/)]);
    }
  });

  it('429 of sign-ups, and of an address', async () => {
    const from = 'X-Forwarded-For: 192.0.2.1';
    for (let count = 0; count < 3; count++) await send(post('/accounts', '{"name":"x"}', from));
    await expectResponse(429, 'signup', post('/accounts', '{"name":"x"}', from));
    for (let count = 4; count < 40; count++) await send(get('/unknown', from));
    await expectResponse(429, ADDRESS, get('/unknown', from));
  });

  it('503, with nothing remaining until Retry-After', async () => {
    const { key: unseen } = await api.signUp('free');
    await link.cut();
    const known = await expectResponse(503, ACCOUNT, get('/messages', key));
    const unknown = await expectResponse(503, ADDRESS, get('/messages', `Authorization: Bearer ${unseen}`));
    await link.restore();

    for (const response of [known, unknown]) {
      expect(valuesOf(response, 'X-RateLimit-Remaining')).toEqual(['0']);
      expect(Number(valuesOf(response, 'X-RateLimit-Reset')[0])).toBeLessThanOrEqual(Date.now() / 1_000 + 2);
      expect(valuesOf(response, 'Retry-After')).toEqual(['1']);
    }
    expect(valuesOf(known, 'X-RateLimit-Limit')).toEqual(['60']);
    expect(valuesOf(known, 'RateLimit')).toEqual(['"minute";r=0;t=1, "day";r=0;t=1']);
    // The account of this key is not known, so this is the limit of the address.
    expect(valuesOf(unknown, 'X-RateLimit-Limit')).toEqual(['40']);
    expect(valuesOf(unknown, 'RateLimit')).toEqual(['"minute";r=0;t=1']);
  });
});
