import { METHODS } from 'node:http';
import { accountOf, expectProblem, sharedApi } from '../../support/api.js';
import { exchange, lines, postLines, RawConnection } from '../../support/http.js';

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

describe('A request that is odd but unambiguous', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const get = (target: string, ...more: string[]) =>
    lines(`GET ${target} HTTP/1.1`, ...more, `Authorization: Bearer ${account.key}`);
  const post = (...more: string[]) => postLines(account.key, ...more);

  it.each([
    ['a URL instead of a path', () => get('http://sluice/messages', 'Host: other')],
    ['a URL in capitals', () => get('HTTPS://SLUICE/messages', 'Host: sluice')],
    ['a Host that is empty', () => get('/messages', 'Host:')],
    ['a Host of IPv6', () => get('/messages', 'Host: [::1]:3000')],
    ['a Host with an underscore', () => get('/messages', 'Host: sluice_api:3000')],
    ['a header 2,500 times', () => get('/messages', 'Host: sluice', ...Array.from({ length: 2_500 }, () => 'a:'))],
    ['an upgrade to another protocol', () => get('/messages', 'Host: a', 'Connection: Upgrade', 'Upgrade: h2c')],
    ['a body of GET', () => get('/messages', 'Host: sluice', 'Content-Length: 5') + 'hello'],
    ['an expectation of GET', () => get('/messages', 'Host: sluice', 'Expect: 100-continue')],
    ['a blank line before it', () => `\r\n${get('/messages', 'Host: sluice')}`],
  ])('gets 200: %s', async (_name, text) => {
    const { status, body } = await exchange(api.url, text());
    expect([status, body.data]).toEqual([200, expect.any(Array)]);
  });

  it.each([
    ['an extension of a chunk', ['Transfer-Encoding: chunked'], 'f;a=b;c="d"\r\n{"message":"x"}\r\n0\r\n\r\n'],
    ['a trailer', ['Transfer-Encoding: CHUNKED', 'Trailer: A'], 'f\r\n{"message":"x"}\r\n0\r\nA: b\r\n\r\n'],
    ['a length with a zero before it', ['Content-Length: 015'], '{"message":"x"}'],
  ])('gets 202: %s', async (_name, framing, body) => {
    const response = await exchange(api.url, post(...framing) + body);
    expect([response.status, response.body.message]).toEqual([202, 'x']);
  });

  it('takes no key out of a trailer', async () => {
    const authorization = `Authorization: Bearer ${account.key}\r\n`;
    const head = post('Transfer-Encoding: chunked').replace(authorization, '');
    const text = `${head}f\r\n{"message":"x"}\r\n0\r\n${authorization}\r\n`;
    expectProblem(await exchange(api.url, text), 401, 'unauthorized');
  });

  it('keeps its place among others on the connection, with bodies in between that are not read', async () => {
    const connection = await RawConnection.open(api.url);
    const requests = [
      get('/account', 'Host: a', 'X-Request-Id: 1', 'Content-Length: 5') + 'hello',
      post('X-Request-Id: 2', 'Content-Length: 15') + '{"message":"x"}',
      get('/messages/any', 'Host: a', 'X-Request-Id: 3', 'Transfer-Encoding: chunked') + '5\r\nhello\r\n0\r\n\r\n',
      get('/account', 'Host: a', 'X-Request-Id: 4'),
    ];
    connection.write(requests.join(''));
    const received: string[] = [];
    while (received.length < requests.length) {
      const { status, headers } = await connection.response();
      received.push(`${headers['x-request-id']}: ${status}`);
    }
    connection.close();

    expect(received).toEqual(['1: 200', '2: 202', '3: 404', '4: 200']);
  });

  it.each([
    ['after a GET', () => get('/messages', 'Host: sluice'), [200]],
    ['after a POST', () => `${post('Content-Length: 15')}{"message":"x"}`, [202]],
    ['within the head', () => 'GET /messages HT', [400]],
    [
      'within the body',
      () => lines('POST /messages HTTP/1.1', 'Host: sluice', 'Content-Length: 15') + '{"mess',
      [400, 401],
    ],
  ])('gets a response, then the connection closes, when the client ends its side %s', async (_name, text, statuses) => {
    const connection = await RawConnection.open(api.url);
    connection.write(text());
    connection.socket.end();

    expect(statuses).toContain((await connection.response()).status);
    expect(await connection.end()).toBe('');
    connection.close();
  });

  it.each(['FETCH', ...METHODS.filter((method) => method !== 'HEAD')])(
    'counts against the address, whatever it is: %s',
    async (method) => {
      let before: number | undefined;
      for (const target of TARGETS) {
        const request = lines(`${method} ${target} HTTP/1.1`, 'Host: sluice', 'Accept: application/json');
        const { status, headers } = await exchange(api.url, request);
        const left = Number(headers['x-ratelimit-remaining']);
        // A minute may begin in between.
        const expected = before === undefined || left > before ? left : before - 1;
        expect([target, status, left]).toEqual([target, expect.any(Number), expected]);
        before = left;
      }
    },
  );
});
