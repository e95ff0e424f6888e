import { accountOf, joinedApi, OPERATOR, ownApi } from '../../support/api.js';
import { exchange, lines, postLines, RawConnection } from '../../support/http.js';
import { until } from '../../support/processes.js';

type Line = Readonly<Record<string, unknown>>;

const WARN = 40;
const INFO = 30;

describe('The access log', () => {
  const api = ownApi({ LOG_LEVEL: 'info', ACCESS_LOG_SAMPLE: '1' });
  const quiet = joinedApi(api, { LOG_LEVEL: 'warn', ACCESS_LOG_SAMPLE: '0' });
  const account = accountOf(api);

  const requests = (from = api) =>
    from
      .log()
      .map((line) => JSON.parse(line) as Line)
      .filter(({ msg }) => msg === 'request');

  /** The line of a request, once it is written. */
  const lineOf = async (id: string, from = api): Promise<Line> => {
    const find = () => requests(from).find(({ requestId }) => requestId === id);
    await until(() => find() !== undefined);
    return find() ?? Promise.reject(new Error('There is no such line.'));
  };

  function send(requestId: string, key = account.key, to = api) {
    return to.call({
      method: 'POST',
      path: '/messages?secret=in-the-query',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        'x-request-id': requestId,
        'idempotency-key': `idempotency-of-${requestId}`,
        'user-agent': 'an-agent',
      },
      body: '{"message":"in-the-body"}',
    });
  }

  it('has one line for a request, with ids, route, status and time, and nothing else of it', async () => {
    expect((await send('one')).status).toBe(202);
    const { level, time, durationMs, ...line } = await lineOf('one');
    expect({ level, time: typeof time }).toEqual({ level: INFO, time: 'number' });
    expect(durationMs).toBeGreaterThan(0);
    expect(line).toEqual({
      ...{ msg: 'request', requestId: 'one', method: 'POST', route: '/messages', status: 202 },
      ...{ accountId: account.id, keyId: account.keyId, process: 'api', pid: line.pid },
    });
    expect(requests().filter(({ requestId }) => requestId === 'one')).toHaveLength(1);
  });

  it('has the pattern of a path, also when nothing was found, and no caller when there is none', async () => {
    await api.call({ path: '/messages/msg_unknown', headers: { 'x-request-id': 'anonymous' } });
    const line = await lineOf('anonymous');
    expect(line).toMatchObject({ method: 'GET', route: '/messages/:id', status: 401 });
    expect(line).not.toHaveProperty('accountId');
    await api.call({ path: '/in-the-path', headers: { 'x-request-id': 'lost' } });
    expect((await lineOf('lost')).route).not.toContain('in-the-path');
  });

  it('has a line for a request that could not be parsed, with the id of the response', async () => {
    const { headers } = await exchange(api.url, lines('NONSENSE in-the-line'));
    expect(await lineOf(headers['x-request-id'] ?? '')).toMatchObject({ method: 'none', route: 'none', status: 400 });
  });

  it('has a line for a request whose client has gone', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write(postLines(account.key, 'Content-Length: 100', 'Expect: 100-continue', 'X-Request-Id: gone'));
    expect((await connection.response()).status).toBe(100);
    connection.socket.resetAndDestroy();
    expect(await lineOf('gone')).toMatchObject({ level: INFO, route: '/messages', status: 'aborted' });
  });

  it('never holds a key, a query, a header or a body', async () => {
    await send('operators', OPERATOR.key);
    await send('nonsense', 'slc_a-key-that-does-not-exist');
    await api.call({ path: `/api-keys/${account.key}`, headers: { authorization: `Bearer ${account.key}` } });
    await api.call({ path: '/x', headers: { authorization: `Basic ${account.key}`, 'x-request-id': 'basic' } });
    await lineOf('basic');
    const kinds = ['slc_', 'pepper', 'in-the-', 'idempotency-of', 'an-agent', 'authorization'];
    for (const secret of [account.key, OPERATOR.key, ...kinds]) expect(api.log().join()).not.toContain(secret);
  });

  it('has the trace of a request, and so has the line of its error', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const release = await api.hold('LOCK TABLE sluice.messages');
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, 'x-request-id': 'traced' };
    expect((await api.send(account, { headers })).status).toBe(503);
    await release();
    await lineOf('traced');
    const traced = api
      .log()
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line.traceId === traceId);
    expect(traced).toMatchObject([
      { requestId: 'traced', msg: 'unavailable' },
      { requestId: 'traced', msg: 'request' },
    ]);
  });

  it('warns of every request that failed with 5xx, whatever the sample', async () => {
    try {
      await send('well', account.key, quiet);
      await api.sql('ALTER TABLE sluice.messages ADD CONSTRAINT broken CHECK (false) NOT VALID');
      expect((await send('ill', account.key, quiet)).status).toBe(500);
      expect(await lineOf('ill', quiet)).toMatchObject({ level: WARN, status: 500, route: '/messages' });
      expect(requests(quiet).map(({ requestId }) => requestId)).toEqual(['ill']);
    } finally {
      await api.sql('ALTER TABLE sluice.messages DROP CONSTRAINT broken');
    }
  });
});
