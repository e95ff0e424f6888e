import { accountOf, expectProblem, OPERATOR, ownApi } from '../../support/api.js';
import { exchange, lines, type Answer } from '../../support/http.js';

const PEPPER = 'the pepper of a service, kept to itself';

describe('An API key in an odd place', () => {
  const api = ownApi({ LOG_LEVEL: 'trace', API_KEY_PEPPER: PEPPER });
  const account = accountOf(api);

  const ask = (key: string, path: string, ...headers: string[]) =>
    exchange(api.url, lines(`GET ${path} HTTP/1.1`, 'Host: sluice', ...headers.map((it) => it.replace('KEY', key))));

  const PLACES: [string, string, string[]][] = [
    ['twice', '/account', ['Authorization: Bearer KEY', 'Authorization: Bearer KEY']],
    ['after another', '/account', ['Authorization: Bearer other', 'Authorization: Bearer KEY']],
    ['with a comma', '/account', ['Authorization: Bearer KEY,']],
    ['with a parameter', '/account', ['Authorization: Bearer KEY, realm="sluice"']],
    ['in quotes', '/account', ['Authorization: Bearer "KEY"']],
    ['after a tab', '/account', ['Authorization: Bearer\tKEY']],
    ['after two blanks', '/account', ['Authorization: Bearer  KEY']],
    ['without a scheme', '/account', ['Authorization: KEY']],
    ['with another scheme', '/account', ['Authorization: Basic KEY']],
    ['with the scheme twice', '/account', ['Authorization: Bearer Bearer KEY']],
    ['in another header', '/account', ['X-Api-Key: KEY']],
    ['in a cookie', '/account', ['Cookie: key=KEY']],
    ['as the id of the request', '/account', ['X-Request-Id: KEY']],
    ['as the trace', '/account', ['traceparent: KEY']],
    ['as the proxy that nobody trusts', '/account', ['X-Forwarded-For: KEY']],
    ['in the query', '/account?key=KEY&access_token=KEY', []],
    ['in the path', '/messages/KEY', []],
    ['in a URL as its user', 'http://KEY@sluice/account', []],
    ['as the host', '/account', ['Host: KEY']],
    ['as a header of its own', '/account', ['KEY: x']],
    ['in a header that is broken', '/account', ['KEY']],
    ['as the expectation', '/account', ['Expect: KEY']],
  ];

  it.each(PLACES)('is not taken, and not repeated: %s', async (_name, path, headers) => {
    const answer = await ask(account.key, path.replaceAll('KEY', account.key), ...headers);

    expect([400, 401]).toContain(answer.status);
    expect(JSON.stringify(answer.headers) + answer.bytes.toString()).not.toContain(account.key);
  });

  it.each([
    ['never issued', () => `slc_${'0'.repeat(40)}`],
    ['issued but for one character', () => account.key.slice(0, -1) + (account.key.endsWith('0') ? '1' : '0')],
    ['no key', () => 'nonsense'],
    ['very long', () => 'k'.repeat(10_000)],
  ])('that is %s is refused without a query', async (_name, key) => {
    await api.sql('ALTER TABLE sluice.api_keys RENAME TO gone');
    let answer: Answer;
    try {
      answer = await api.ask(key(), 'GET /account');
    } finally {
      await api.sql('ALTER TABLE sluice.gone RENAME TO api_keys');
    }
    expectProblem(answer, 401, 'unauthorized');
  });

  it('is nowhere: in no line of the log, in no metric, in no table and no job', async () => {
    for (const [, path, headers] of PLACES) await ask(account.key, path.replaceAll('KEY', account.key), ...headers);
    const made = await api.createKey(account.key);
    const rotated = await api.ask(account.key, `POST /api-keys/${made.id}/rotate`);
    const { key: next } = JSON.parse(rotated.bytes.toString()) as { key: string };
    expect((await api.ask(next, 'POST /messages', { message: 'x' })).status).toBe(202);
    expect((await api.ask(OPERATOR, 'GET /admin/accounts')).status).toBe(200);
    await api.ask(next, 'POST /messages', `{"message":1,"${next}":"${next}"}`);
    const metrics = await (await fetch(`${api.managementUrl}/metrics`)).text();
    const tables = await api.sql<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_schema IN ('sluice', 'bullmq') AND table_type = 'BASE TABLE'`,
    );

    expect(tables.length).toBeGreaterThan(10);
    for (const secret of [account.key, made.key, next, OPERATOR.key, PEPPER]) {
      expect(api.log().filter((line) => line.includes(secret))).toEqual([]);
      expect(metrics).not.toContain(secret);
      for (const { name } of tables) {
        const rows = await api.sql(`SELECT FROM ${name} AS t WHERE position($1 IN t::text) > 0`, [secret]);
        expect([name, rows.length]).toEqual([name, 0]);
      }
    }
  });
});
