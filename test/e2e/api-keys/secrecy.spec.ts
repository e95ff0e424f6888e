import { KeySecrets } from '#accounts/application/key-secrets.js';
import { accountOf, expectProblem, newKey, OPERATOR, ownApi, type NewKey } from '../../support/api.js';
import { exchange, lines, type HttpResponse } from '../../support/http.js';

const PEPPER = 'the pepper of a service, kept to itself';

describe('An API key', () => {
  const api = ownApi({ LOG_LEVEL: 'trace', API_KEY_PEPPER: PEPPER });
  const account = accountOf(api);
  let made: NewKey;
  beforeAll(async () => {
    made = await api.createKey(account.key);
  });

  const changed = (key: string, place: number) => {
    const other = key.at(place) === '0' ? '1' : '0';
    return key.slice(0, place) + other + key.slice(place + 1 || key.length);
  };
  const ask = (key: string, path: string, ...headers: string[]) =>
    exchange(api.url, lines(`GET ${path} HTTP/1.1`, 'Host: sluice', ...headers.map((it) => it.replace('KEY', key))));

  const PLACES: [string, string, string[]][] = [
    ['twice', '/account', ['Authorization: Bearer KEY', 'Authorization: Bearer KEY']],
    ['after another', '/account', ['Authorization: Bearer other', 'Authorization: Bearer KEY']],
    ['with another scheme', '/account', ['Authorization: Basic KEY']],
    ['with the scheme twice', '/account', ['Authorization: Bearer Bearer KEY']],
    ['in another header', '/account', ['X-Api-Key: KEY']],
    ['in a cookie', '/account', ['Cookie: key=KEY']],
    ['as the id of the request', '/account', ['X-Request-Id: KEY']],
    ['as the trace', '/account', ['traceparent: KEY']],
    ['as the address of an untrusted proxy', '/account', ['X-Forwarded-For: KEY']],
    ['in the path', '/messages/KEY', []],
    ['in a URL as its user', 'http://KEY@sluice/account', []],
    ['as the host', '/account', ['Host: KEY']],
    ['as a header of its own', '/account', ['KEY: x']],
    ['in a header that is broken', '/account', ['KEY']],
    ['as the expectation', '/account', ['Expect: KEY']],
  ];

  it.each(PLACES)('is not accepted, and not repeated: %s', async (_name, path, headers) => {
    const response = await ask(account.key, path.replaceAll('KEY', account.key), ...headers);

    expect([400, 401]).toContain(response.status);
    expect(JSON.stringify(response.headers) + response.bytes.toString()).not.toContain(account.key);
  });

  it.each([
    ['never issued', () => `slc_${'0'.repeat(40)}`],
    ['issued but for one character', () => changed(account.key, 43)],
    ['no key', () => 'nonsense'],
    ['very long', () => 'k'.repeat(10_000)],
  ])('that is %s is rejected without a query', async (_name, key) => {
    await api.sql('ALTER TABLE sluice.api_keys RENAME TO gone');
    try {
      expectProblem(await api.ask(key(), 'GET /account'), 401, 'unauthorized');
    } finally {
      await api.sql('ALTER TABLE sluice.gone RENAME TO api_keys');
    }
  });

  it('is unknown when it is of another pepper, with the same response as to a key that was never issued', async () => {
    const { key } = new KeySecrets(`${PEPPER}!`).issue();
    const headers = { 'x-request-id': 'same' };
    const responses = await Promise.all(
      [key, changed(made.key, 43), 'nonsense'].map((key) => api.ask(key, 'GET /messages', undefined, headers)),
    );
    for (const response of responses) {
      expectProblem(response, 401, 'unauthorized');
      expect(response.bytes.toString()).toBe(responses[0]?.bytes.toString());
      expect(response.headers['www-authenticate']).toBe(responses[0]?.headers['www-authenticate']);
    }
  });

  it('is in no error, no line of the log, no metric, no table and no job', async () => {
    const { key } = made;
    const rotated = await api.createKey(account.key);
    const { key: next } = newKey(await api.ask(account.key, `POST /api-keys/${rotated.id}/rotate`));
    await api.sent(next);
    await api.sql("ALTER TABLE sluice.api_keys ADD CHECK (name <> 'unstorable')");
    const errors: HttpResponse[] = [
      await api.ask(rotated.key, 'GET /account'),
      await api.ask(changed(key, 30), 'GET /account'),
      await api.ask(changed(OPERATOR.key, 9), 'GET /admin/accounts'),
      await api.ask(key, `GET /messages/${key}`),
      await api.ask(key, `DELETE /api-keys/${key}`),
      await api.ask(key, `GET /nothing/${key}?key=${key}`),
      await api.ask(key, `PUT /account?key=${key}`),
      await api.ask(key, `GET /messages?cursor=${key}`),
      await api.ask(key, 'POST /messages', `{"message":1,"${key}":"${key}"}`),
      await api.ask(key, 'POST /messages', `{"message":"${key}`),
      await api.ask(key, 'POST /api-keys', { name: 'x', expiresAt: key, scopes: [key] }),
      await api.ask(key, 'POST /api-keys', { name: 'unstorable' }),
      await api.ask(OPERATOR, `GET /admin/accounts/${key}`),
      await api.ask(null, `GET /%${key}`, undefined, { authorization: `Bearer ${key}` }),
    ];
    for (const [, path, headers] of PLACES) await ask(account.key, path.replaceAll('KEY', account.key), ...headers);
    const metrics = await (await fetch(`${api.managementUrl}/metrics`)).text();
    const tables = await api.sql<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_schema IN ('sluice', 'bullmq') AND table_type = 'BASE TABLE'`,
    );

    const statuses = [401, 401, 401, 404, 404, 404, 405, 400, 400, 400, 400, 500, 404, 400];
    expect(errors.map(({ status }) => status)).toEqual(statuses);
    expect(tables.length).toBeGreaterThan(10);
    const log = api.log();
    expect(log.join('')).toContain('unexpected error');
    const texts = [...errors.map(({ headers, bytes }) => JSON.stringify(headers) + bytes.toString()), ...log, metrics];
    const issued = [account.key, key, rotated.key, next, OPERATOR.key, PEPPER];
    for (const secret of [...issued, changed(key, 30), changed(OPERATOR.key, 9)]) {
      expect(texts.filter((text) => text.includes(secret))).toEqual([]);
      for (const { name } of tables) {
        const rows = await api.sql(`SELECT FROM ${name} AS t WHERE position($1 IN t::text) > 0`, [secret]);
        expect([name, rows.length]).toEqual([name, 0]);
      }
    }
  });
});
