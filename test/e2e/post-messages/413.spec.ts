import { accountOf, expectProblem, ownApi, sharedApi } from '../../support/api.js';
import { exchange, lines, RawConnection } from '../../support/http.js';

describe('POST /messages and POST /messages/batch respond 413 body_too_large and stores nothing', () => {
  const api = sharedApi();
  const account = accountOf(api);
  afterEach(async () => {
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  const head = (...more: string[]) => {
    const authorization = `Authorization: Bearer ${account.key}`;
    return lines('POST /messages HTTP/1.1', 'Host: sluice', authorization, 'Content-Type: application/json', ...more);
  };

  it('to a body of one byte more than 1,048,576', async () => {
    const [single, batch] = ['{"message":"x"}', '{"messages":[{"message":"x"}]}'].map((body) => body.padEnd(1_048_577));
    const headers = { 'idempotency-key': 'key' };
    for (const response of [
      await api.send(account, { body: single ?? '', headers }),
      await api.sendBatch(account, { body: batch ?? '', headers }),
    ]) {
      expect(expectProblem(response, 413, 'body_too_large').detail).toContain('1048576 bytes');
    }
  });

  it('to a body of 30 MB that is sent whole', async () => {
    expectProblem(await api.send(account, { body: Buffer.alloc(30_000_000, 'a') }), 413, 'body_too_large');
  });

  it('at once to a length that is announced, and closes the connection', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write(head('Content-Length: 1000000000'));

    expectProblem(await connection.response(), 413, 'body_too_large');
    expect(await connection.end()).toBe('');
    connection.close();
  });

  it('instead of 100 Continue to a length that is announced with an expectation', async () => {
    const response = await exchange(api.url, head('Content-Length: 1048577', 'Expect: 100-continue'));
    expectProblem(response, 413, 'body_too_large');
  });

  it('to chunks that add up to one byte more', async () => {
    const chunks = `100000\r\n${'{"message":"x"}'.padEnd(1_048_576)}\r\n1\r\n \r\n0\r\n\r\n`;
    const response = await exchange(api.url, head('Transfer-Encoding: chunked') + chunks);
    expectProblem(response, 413, 'body_too_large');
  });

  it('to chunks that add up to much more, without waiting for the last', async () => {
    const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
    const connection = await RawConnection.open(api.url);
    connection.write(head('Transfer-Encoding: chunked') + chunk.repeat(17));

    expectProblem(await connection.response(), 413, 'body_too_large');
    expect(await connection.end()).toBe('');
    connection.close();
  });
});

describe('POST /messages with MAX_BODY_BYTES', () => {
  const api = ownApi({ MAX_BODY_BYTES: '2000' });
  const account = accountOf(api);

  it('responds 413 to more and 202 to as much', async () => {
    expectProblem(await api.send(account, { body: '{"message":"x"}'.padEnd(2_001) }), 413, 'body_too_large');
    expect((await api.send(account, { body: '{"message":"x"}'.padEnd(2_000) })).status).toBe(202);
  });
});
