import { expectProblem, sharedApi } from '../../support/api.js';
import { exchange, lines, RawConnection } from '../../support/http.js';

describe('the edge responds 401 unauthorized before any other check', () => {
  const api = sharedApi();

  it.each([
    ['GET', '/messages'],
    ['POST', '/messages'],
    ['GET', '/messages/any'],
    ['POST', '/messages/any/cancel'],
    ['POST', '/messages/any/retry'],
  ])('to %s %s without a key', async (method, path) => {
    expectProblem(await api.ask(null, `${method} ${path}`), 401, 'unauthorized');
  });

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

  const stranger = (...more: string[]) =>
    lines(
      'POST /messages HTTP/1.1',
      'Host: sluice',
      'Authorization: Bearer wrong',
      'Content-Type: application/json',
      ...more,
    );

  it.each([
    ['a length', 'Content-Length: 1000000000'],
    ['chunks', 'Transfer-Encoding: chunked'],
  ])(
    'at once to an anonymous client whose large body, announced by %s, has yet to come, and closes',
    async (_name, framing) => {
      const connection = await RawConnection.open(api.url);
      connection.write(stranger(framing));

      expectProblem(await connection.answer(), 401, 'unauthorized');
      expect(await connection.end()).toBe('');
      await connection.refused();
      connection.close();
    },
  );

  it('instead of 100 Continue', async () => {
    const answer = await exchange(api.url, stranger('Content-Length: 15', 'Expect: 100-continue'));
    expectProblem(answer, 401, 'unauthorized');
  });

  it('and takes no request out of the body of an anonymous client', async () => {
    const account = await api.signUp();
    const smuggled =
      lines(
        'POST /messages HTTP/1.1',
        'Host: sluice',
        `Authorization: Bearer ${account.key}`,
        'Content-Type: application/json',
        'Content-Length: 15',
      ) + '{"message":"x"}';
    const connection = await RawConnection.open(api.url);
    connection.write(stranger(`Content-Length: ${smuggled.length}`) + smuggled);
    connection.write(lines('OPTIONS /messages HTTP/1.1', 'Host: sluice', 'Connection: close'));

    expectProblem(await connection.answer(), 401, 'unauthorized');
    expect((await connection.answer()).status).toBe(204);
    expect(await connection.end()).toBe('');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
    connection.close();
  });

  it('while 100 Continue goes to a caller with a key, before the answer', async () => {
    const account = await api.signUp();
    const connection = await RawConnection.open(api.url);
    connection.write(stranger('Content-Length: 15', 'Expect: 100-continue').replace('wrong', account.key));
    const interim = await connection.answer();
    connection.write('{"message":"x"}');
    const answer = await connection.answer();

    expect(interim.status).toBe(100);
    expect(answer.status).toBe(202);
    expect(answer.body.message).toBe('x');
    connection.close();
  });
});
