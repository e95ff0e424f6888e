import { METHODS } from 'node:http';
import { accountOf, expectProblem, sharedApi } from '../../support/api.js';
import { exchange, lines, RawConnection } from '../../support/http.js';

const TARGETS = [
  '/',
  '/messages',
  '/messages?',
  '*',
  '/*',
  '/%',
  '//',
  '/\\',
  'ftp://a/',
  'http://a',
  'http://a?x/y/z',
];

describe('what is odd but can be read in one way only', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const get = (target: string, ...more: string[]) =>
    lines(`GET ${target} HTTP/1.1`, ...more, `Authorization: Bearer ${account.key}`);
  const post = (...more: string[]) =>
    lines(
      'POST /messages HTTP/1.1',
      'Host: sluice',
      `Authorization: Bearer ${account.key}`,
      'Content-Type: application/json',
      ...more,
    );

  it.each([
    ['a URL instead of a path', () => get('http://sluice/messages', 'Host: other')],
    ['a URL in capitals', () => get('HTTPS://SLUICE/messages', 'Host: sluice')],
    ['a Host that is empty', () => get('/messages', 'Host:')],
    ['a Host of IPv6', () => get('/messages', 'Host: [::1]:3000')],
    ['a Host with an underscore', () => get('/messages', 'Host: sluice_api:3000')],
    ['a header 2,500 times', () => get('/messages', 'Host: sluice', ...Array.from({ length: 2_500 }, () => 'a:'))],
    ['a wish for another protocol', () => get('/messages', 'Host: a', 'Connection: Upgrade', 'Upgrade: h2c')],
    ['a body of GET', () => get('/messages', 'Host: sluice', 'Content-Length: 5') + 'hello'],
    ['an expectation of GET', () => get('/messages', 'Host: sluice', 'Expect: 100-continue')],
    ['a blank line before it', () => `\r\n${get('/messages', 'Host: sluice')}`],
  ])('gets 200: %s', async (_name, text) => {
    const answer = await exchange(api.url, text());
    expect([answer.status, answer.body.data]).toEqual([200, expect.any(Array)]);
  });

  it.each([
    ['an extension of a chunk', ['Transfer-Encoding: chunked'], 'f;a=b;c="d"\r\n{"message":"x"}\r\n0\r\n\r\n'],
    ['a trailer', ['Transfer-Encoding: CHUNKED', 'Trailer: A'], 'f\r\n{"message":"x"}\r\n0\r\nA: b\r\n\r\n'],
    ['a length with a zero before it', ['Content-Length: 015'], '{"message":"x"}'],
  ])('gets 202: %s', async (_name, framing, body) => {
    const answer = await exchange(api.url, post(...framing) + body);
    expect([answer.status, answer.body.message]).toEqual([202, 'x']);
  });

  it('takes no key out of a trailer', async () => {
    const head = ['POST /messages HTTP/1.1', 'Host: sluice', 'Content-Type: application/json'];
    const text = lines(...head, 'Transfer-Encoding: chunked') + 'f\r\n{"message":"x"}\r\n0\r\n';
    const answer = await exchange(api.url, `${text}Authorization: Bearer ${account.key}\r\n\r\n`);
    expectProblem(answer, 401, 'unauthorized');
  });

  it('keeps the order of requests that come at once, with bodies that nobody wants in between', async () => {
    const connection = await RawConnection.open(api.url);
    const asked = [
      get('/account', 'Host: a', 'X-Request-Id: 1', 'Content-Length: 5') + 'hello',
      post('X-Request-Id: 2', 'Content-Length: 15') + '{"message":"x"}',
      get('/messages/any', 'Host: a', 'X-Request-Id: 3', 'Transfer-Encoding: chunked') + '5\r\nhello\r\n0\r\n\r\n',
      get('/account', 'Host: a', 'X-Request-Id: 4'),
    ];
    connection.write(asked.join(''));
    const answers = [];
    while (answers.length < asked.length) answers.push(await connection.answer());
    connection.close();

    expect(answers.map(({ status, headers }) => [status, headers['x-request-id']])).toEqual([
      [200, '1'],
      [202, '2'],
      [404, '3'],
      [200, '4'],
    ]);
  });

  it('answers whoever has closed their side after the request, and then closes', async () => {
    for (const [text, status] of [
      [get('/messages', 'Host: sluice'), 200],
      [post('Content-Length: 15') + '{"message":"x"}', 202],
    ] as const) {
      const connection = await RawConnection.open(api.url);
      connection.write(text);
      connection.finish();

      expect((await connection.answer()).status).toBe(status);
      expect(await connection.end()).toBe('');
      connection.close();
    }
  });

  it.each([
    ['within its head', 'GET /messages HT'],
    ['within its body', lines('POST /messages HTTP/1.1', 'Host: sluice', 'Content-Length: 15') + '{"mess'],
  ])('answers a request that ends %s, and closes', async (_name, text) => {
    const connection = await RawConnection.open(api.url);
    connection.write(text);
    connection.finish();

    expect([400, 401]).toContain((await connection.answer()).status);
    await connection.end();
    connection.close();
  });

  it.each(METHODS.filter((method) => method !== 'HEAD'))(
    'counts against the address whatever it is, so that nothing is free: %s',
    async (method) => {
      let before: number | undefined;
      for (const target of TARGETS) {
        const { status, headers } = await exchange(api.url, lines(`${method} ${target} HTTP/1.1`, 'Host: sluice'));
        const left = Number(headers['x-ratelimit-remaining']);
        expect([target, status, left]).toEqual([target, expect.any(Number), before === undefined ? left : before - 1]);
        before = left;
      }
    },
  );
});
