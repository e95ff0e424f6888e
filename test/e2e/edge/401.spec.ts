import { accountOf, expectProblem, sharedApi } from '../../support/api.js';
import { exchange, lastExchange, lines, postLines, RawConnection } from '../../support/http.js';

describe('the edge responds 401 unauthorized before any other check', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each([
    ['a body that is broken', { body: '{', headers: { 'content-type': 'application/json' } }],
    ['a body of another type', { body: 'x', headers: { 'content-type': 'text/plain' } }],
    ['a body that is compressed', { body: 'x', headers: { 'content-encoding': 'gzip' } }],
    ['a bad Idempotency-Key', { body: '{}', headers: { 'idempotency-key': 'a b' } }],
    ['a body that is too large', { body: Buffer.alloc(10_000_000, 'a'), headers: {} }],
    ['a bad query', { path: '/messages?limit=0', method: 'GET', headers: {} }],
  ])('to a wrong key with %s', async (_name, { headers, ...rest }) => {
    const request = { method: 'POST', path: '/messages', headers: { ...headers, authorization: 'Bearer wrong' } };
    expectProblem(await api.call({ ...request, ...rest }), 401, 'unauthorized');
  });

  it.each([
    ['a length', 'Content-Length: 1000000000'],
    ['chunks', 'Transfer-Encoding: chunked'],
  ])(
    'at once to a wrong key when a large body, announced by %s, has not arrived, and closes',
    async (_name, framing) => {
      expectProblem(await lastExchange(api.url, postLines('wrong', framing)), 401, 'unauthorized');
    },
  );

  it('to a client that goes on sending 10 MB, which can send all of it and read the response', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write(postLines('wrong', 'Content-Length: 10000000'));
    const sent = new Promise((resolve) => connection.socket.write(Buffer.alloc(10_000_000, 'a'), resolve));

    expectProblem(await connection.response(), 401, 'unauthorized');
    expect(await sent).toBeFalsy();
    connection.close();
  });

  it('instead of 100 Continue', async () => {
    const text = postLines('wrong', 'Content-Length: 15', 'Expect: 100-continue');
    expectProblem(await exchange(api.url, text), 401, 'unauthorized');
  });

  it('and reads no request from the body of an anonymous client', async () => {
    const smuggled = `${postLines(account.key, 'Content-Length: 15')}{"message":"x"}`;
    const connection = await RawConnection.open(api.url);
    connection.write(postLines('wrong', `Content-Length: ${smuggled.length}`) + smuggled);
    connection.write(lines('OPTIONS /messages HTTP/1.1', 'Host: sluice', 'Connection: close'));

    expectProblem(await connection.response(), 401, 'unauthorized');
    expect((await connection.response()).status).toBe(204);
    await connection.refused();
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it('while 100 Continue goes to a caller with a key, before the response', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write(postLines(account.key, 'Content-Length: 15', 'Expect: 100-continue'));
    expect((await connection.response()).status).toBe(100);
    connection.write('{"message":"x"}');
    const { status, body } = await connection.response();

    expect([status, body.message]).toEqual([202, 'x']);
    connection.close();
  });
});
