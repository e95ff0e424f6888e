import { accountOf, sharedApi } from '../../support/api.js';
import { lines, postLines, RawConnection } from '../../support/http.js';
import { metricsOf } from '../../support/metrics.js';
import { until } from '../../support/processes.js';

describe('Pipelined requests', () => {
  const api = sharedApi();
  const account = accountOf(api);
  const request = (id: number) =>
    lines('GET /account HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${account.key}`, `X-Request-Id: ${id}`);
  const send = async (count: number) => {
    const connection = await RawConnection.open(api.url);
    connection.write(Array.from({ length: count }, (_, id) => request(id)).join(''));
    return connection;
  };

  it('get their responses in their order, up to 32 of them', async () => {
    const connection = await send(32);
    for (let id = 0; id < 32; id++) {
      const { status, headers } = await connection.response();
      expect([status, headers['x-request-id']]).toEqual([200, String(id)]);
    }
    connection.close();
  });

  it('close their connection when more than 32 of them wait for a response', async () => {
    const connection = await send(33);
    expect(await connection.end()).not.toContain('X-Request-Id: 32');
    // Open on this side, it would keep the Jest worker from ending.
    connection.close();
  });

  it('leave no bodies in memory when their connection is lost', async () => {
    const bytes = async () => (await metricsOf(api.managementUrl)).get('sluice_buffered_bytes{bodies="requests"}');
    // Its response does not end, so the other responses wait.
    const events = lines('GET /events HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${account.key}`);
    const post = `${postLines(account.key, 'Content-Length: 15')}{"message":"x"}`;
    const connection = await RawConnection.open(api.url);
    connection.write(events + post.repeat(3));
    await until(async () => (await api.stored(account))?.messages === 3);
    expect(await bytes()).toBeGreaterThanOrEqual(45);
    connection.socket.resetAndDestroy();
    await until(async () => (await bytes()) === 0);
  });
});
