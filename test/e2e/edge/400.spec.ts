import { accountOf, expectProblem, sharedApi } from '../../support/api.js';
import { exchange, lastExchange, lines, postLines, RawConnection } from '../../support/http.js';

describe('the edge responds 400 malformed_request, with and without a key', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const empty = (count: number) => Array.from({ length: count }, () => 'a:');
  const chunked = 'f\r\n{"message":"x"}\r\n0\r\n\r\n';

  it.each([
    ['a method that HTTP does not know', lines('FETCH /messages HTTP/1.1', 'Host: sluice')],
    ['a method in lower case', lines('get /messages HTTP/1.1', 'Host: sluice')],
    ['CONNECT', lines('CONNECT example.com:443 HTTP/1.1', 'Host: example.com:443')],
    ['a request line without a path', lines('GET HTTP/1.1', 'Host: sluice')],
    ['a path with a space', lines('GET /mess ages HTTP/1.1', 'Host: sluice')],
    ['HTTP/0.9', 'GET /messages\r\n\r\n'],
    ['HTTP/2.0', lines('GET /messages HTTP/2.0', 'Host: sluice')],
    ['the greeting of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['the greeting of TLS', Buffer.from('16030100010000', 'hex')],
    ['lines that end with LF only', 'GET /messages HTTP/1.1\nHost: sluice\n\n'],
    ['a header without a colon', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Accept')],
    ['a header name with a space', lines('GET /messages HTTP/1.1', 'Host : sluice')],
    ['a header that is folded', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Accept: a', ' b')],
    ['a header with U+0000', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Accept: \0')],
    ['a header with a bare CR', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Accept: a\rb')],
    ['a header before the Host that is folded', lines('GET /messages HTTP/1.1', ' Accept: a', 'Host: sluice')],
    ['a path with a byte beyond ASCII', Buffer.from(lines('GET /mess\xe4ges HTTP/1.1', 'Host: sluice'), 'latin1')],
    ['a path without its slash', lines('GET messages HTTP/1.1', 'Host: sluice')],
    ['a path with a fragment', lines('GET /messages#top HTTP/1.1', 'Host: sluice')],
    ['the asterisk with another method than OPTIONS', lines('GET * HTTP/1.1', 'Host: sluice')],
    ['a URL of another scheme', lines('GET ftp://sluice/messages HTTP/1.1', 'Host: sluice')],
    ['a URL with a password', lines('GET http://a:b@sluice/messages HTTP/1.1', 'Host: sluice')],
    ['a URL without a host', lines('GET http:///messages HTTP/1.1', 'Host: sluice')],
    ['a Host with a space', lines('GET /messages HTTP/1.1', 'Host: a b')],
    ['a Host with a path', lines('GET /messages HTTP/1.1', 'Host: sluice/messages')],
    ['a Host with a user', lines('GET /messages HTTP/1.1', 'Host: a@sluice')],
    ['a Host with a port that is none', lines('GET /messages HTTP/1.1', 'Host: sluice:http')],
    ['a response instead of a request', lines('HTTP/1.1 200 OK', 'Content-Length: 0')],
    ['no Host', lines('GET /messages HTTP/1.1')],
    ['two Host headers', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Host: sluice')],
    ['an expectation of something else', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Expect: bogus')],
    ['two expectations', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Expect: 100-continue, bogus')],
    ['a length that is negative', lines('POST /messages HTTP/1.1', 'Host: sluice', 'Content-Length: -1')],
    ['a length that is empty', lines('POST /messages HTTP/1.1', 'Host: sluice', 'Content-Length:')],
    ['a length beyond 64 bits', lines('POST /messages HTTP/1.1', 'Host: a', 'Content-Length: 18446744073709551631')],
    ['a length that is no number', lines('POST /messages HTTP/1.1', 'Host: sluice', 'Content-Length: 0x10')],
  ])('%s', async (_name, text) => {
    expectProblem(await exchange(api.url, text), 400, 'malformed_request');
  });

  it.each([
    ['a length twice', ['Content-Length: 15', 'Content-Length: 15'], '{"message":"x"}'],
    ['two lengths', ['Content-Length: 15', 'Content-Length: 3'], '{"message":"x"}'],
    ['a length and chunks', ['Content-Length: 15', 'Transfer-Encoding: chunked'], chunked],
    ['chunks that are compressed', ['Transfer-Encoding: gzip, chunked'], chunked],
    ['chunks twice', ['Transfer-Encoding: chunked, chunked'], chunked],
    ['a transfer encoding other than chunks', ['Transfer-Encoding: gzip'], chunked],
    ['chunks named in quotes', ['Transfer-Encoding: "chunked"'], chunked],
    ['chunks with a comma', ['Transfer-Encoding: ,chunked'], chunked],
    ['chunks with a parameter', ['Transfer-Encoding: chunked;q=1'], chunked],
    ['an empty transfer encoding', ['Transfer-Encoding:', 'Content-Length: 15'], '{"message":"x"}'],
    ['compressed chunks behind 2,000 headers', [...empty(2_000), 'Transfer-Encoding: gzip, chunked'], chunked],
    ['a Host behind 2,000 headers', [...empty(2_000), 'Host: b', 'Content-Length: 15'], '{"message":"x"}'],
    ['chunks whose size ends with LF', ['Transfer-Encoding: chunked'], 'f\n{"message":"x"}\r\n0\r\n\r\n'],
    ['chunks that end with LF', ['Transfer-Encoding: chunked'], 'f\r\n{"message":"x"}\n0\r\n\r\n'],
    ['chunks that end with nothing', ['Transfer-Encoding: chunked'], 'f\r\n{"message":"x"}0\r\n\r\n'],
    ['chunks with a size of 0xf', ['Transfer-Encoding: chunked'], '0xf\r\n{"message":"x"}\r\n0\r\n\r\n'],
    ['chunks with a size beyond 64 bits', ['Transfer-Encoding: chunked'], `1000000000000000${chunked}`],
    ['an extension with a bare LF', ['Transfer-Encoding: chunked'], 'f;a\n{"message":"x"}\r\n0\r\n\r\n'],
    ['an extension of 20 kB', ['Transfer-Encoding: chunked'], chunked.replace('f', `f;${'a'.repeat(20_000)}`)],
    ['a trailer that is a length', ['Transfer-Encoding: chunked'], `${chunked.slice(0, -2)}Content-Length: 1\r\n\r\n`],
    ['chunks that are not the last encoding', ['Transfer-Encoding: chunked, identity'], chunked],
  ])('a body framed by %s, and stores nothing', async (_name, framing, body) => {
    expectProblem(await exchange(api.url, postLines(account.key, ...framing) + body), 400, 'malformed_request');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it('a body in chunks with HTTP/1.0, which has none', async () => {
    const head = postLines(account.key, 'Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0');

    expectProblem(await exchange(api.url, head + chunked), 400, 'malformed_request');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it.each(['/%', '/%zz', '/messages/%', '/messages/%c0%80', '/messages/%ff', '/messages/%ed%a0%80/cancel'])(
    'a path that is not validly percent-encoded: %s',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        expectProblem(await api.ask(account, `${method} ${path}`), 400, 'malformed_request');
      }
    },
  );

  it.each([
    ['when more was sent', `${lines('POST /messages HTTP/1.1', 'Host: sluice', 'Transfer-Encoding:')}and more\r\n\r\n`],
    ['when nothing more is sent', lines('FETCH / HTTP/1.1')],
  ])('once, and then closes the connection: %s', async (_name, text) => {
    const response = await lastExchange(api.url, text);
    expectProblem(response, 400, 'malformed_request');
    expect(response.headers.connection).toBe('close');
  });

  it('to what follows a request, after the response to that request', async () => {
    const connection = await RawConnection.open(api.url);
    const head = postLines(account.key, 'X-Request-Id: first', 'Content-Length: 15');
    connection.write(`${head}{"message":"x"} and more\r\n\r\n`);
    const [first, second] = [await connection.response(), await connection.response()];

    expect([first.status, first.headers['x-request-id']]).toEqual([202, 'first']);
    expect(expectProblem(second, 400, 'malformed_request').requestId).not.toBe('first');
    await connection.refused();
  });

  it.each([
    ['without Host', lines('GET / HTTP/1.1', 'X-Request-Id: mine')],
    ['with an expectation', lines('GET / HTTP/1.1', 'Host: a', 'Expect: x', 'X-Request-Id: mine')],
  ])('and under the request id of the caller, if it could be read: %s', async (_name, text) => {
    expect(expectProblem(await exchange(api.url, text), 400, 'malformed_request').requestId).toBe('mine');
  });

  it('but not to HTTP/1.0 without Host', async () => {
    const text = lines('GET /messages HTTP/1.0', `Authorization: Bearer ${account.key}`);
    expect((await exchange(api.url, text)).status).toBe(200);
  });
});
