import { expectProblem, startTestApi, type TestAccount, type TestApi } from '../../support/api.js';
import { exchange, lines, RawConnection } from '../../support/http.js';

describe('the edge answers 400 malformed_request, whoever asks', () => {
  let api: TestApi;
  let account: TestAccount;

  beforeAll(async () => {
    api = await startTestApi();
    account = await api.signUp();
  });
  afterAll(() => api.stop());

  const bearer = () => `Authorization: Bearer ${account.key}`;
  const chunked = 'f\r\n{"message":"x"}\r\n0\r\n\r\n';

  it.each([
    ['a method that HTTP does not know', lines('FETCH /messages HTTP/1.1', 'Host: sluice')],
    ['a method in lower case', lines('get /messages HTTP/1.1', 'Host: sluice')],
    ['CONNECT', lines('CONNECT example.com:443 HTTP/1.1', 'Host: example.com:443')],
    ['a request line without a path', lines('GET HTTP/1.1', 'Host: sluice')],
    ['a path with a blank', lines('GET /mess ages HTTP/1.1', 'Host: sluice')],
    ['HTTP/0.9', 'GET /messages\r\n\r\n'],
    ['HTTP/2.0', lines('GET /messages HTTP/2.0', 'Host: sluice')],
    ['the greeting of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['the greeting of TLS', Buffer.from('16030100010000', 'hex')],
    ['lines that end with LF only', 'GET /messages HTTP/1.1\nHost: sluice\n\n'],
    ['a header without a colon', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Accept')],
    ['a header name with a blank', lines('GET /messages HTTP/1.1', 'Host : sluice')],
    ['a header that is folded', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Accept: a', ' b')],
    ['a header with U+0000', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Accept: \0')],
    ['no Host', lines('GET /messages HTTP/1.1')],
    ['two Host headers', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Host: sluice')],
    ['an expectation of something else', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Expect: bogus')],
    ['two expectations', lines('GET /messages HTTP/1.1', 'Host: sluice', 'Expect: 100-continue, bogus')],
    ['a length that is negative', lines('POST /messages HTTP/1.1', 'Host: sluice', 'Content-Length: -1')],
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
    ['chunks that are not the last encoding', ['Transfer-Encoding: chunked, identity'], chunked],
  ])('a body framed by %s, of which nothing is stored', async (_name, framing, body) => {
    const head = ['POST /messages HTTP/1.1', 'Host: sluice', bearer(), 'Content-Type: application/json'];
    const answer = await exchange(api.url, lines(...head, ...framing) + body);

    expectProblem(answer, 400, 'malformed_request');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it('a body in chunks with HTTP/1.0, which has none', async () => {
    const head = ['POST /messages HTTP/1.0', bearer(), 'Content-Type: application/json', 'Transfer-Encoding: chunked'];

    expectProblem(await exchange(api.url, lines(...head) + chunked), 400, 'malformed_request');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it.each(['/%', '/%zz', '/messages/%', '/messages/%c0%80', '/messages/%ff', '/messages/%ed%a0%80/cancel'])(
    'a path that is not validly percent-encoded: %s',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        expectProblem(await api.as(account, { method, path }), 400, 'malformed_request');
      }
    },
  );

  it('to what follows a request, after the answer to that request', async () => {
    const head = ['POST /messages HTTP/1.1', 'Host: sluice', bearer(), 'Content-Type: application/json'];
    const connection = await RawConnection.open(api.url);
    connection.write(`${lines(...head, 'X-Request-Id: first', 'Content-Length: 15')}{"message":"x"} and more\r\n\r\n`);
    const first = await connection.answer();
    const second = await connection.answer();

    expect(first.status).toBe(202);
    expect(first.headers['x-request-id']).toBe('first');
    expect(expectProblem(second, 400, 'malformed_request').requestId).not.toBe('first');
    await connection.refused();
    connection.close();
  });

  it('and closes the connection for a client that does not', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write(lines('FETCH / HTTP/1.1'));

    expect((await connection.answer()).headers.connection).toBe('close');
    expect(await connection.end()).toBe('');
    await connection.refused();
    connection.close();
  });

  it('and under the request id of the caller, where it could be read', async () => {
    const answer = await exchange(api.url, lines('GET / HTTP/1.1', 'X-Request-Id: mine'));
    expect(expectProblem(answer, 400, 'malformed_request').requestId).toBe('mine');

    const expecting = await exchange(api.url, lines('GET / HTTP/1.1', 'Host: a', 'Expect: x', 'X-Request-Id: mine'));
    expect(expectProblem(expecting, 400, 'malformed_request').requestId).toBe('mine');
  });

  it('but not HTTP/1.0 without Host', async () => {
    expect((await exchange(api.url, lines('GET /messages HTTP/1.0', bearer()))).status).toBe(200);
  });
});
