import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { accountOf, ownApi } from '../../support/api.js';
import { lines } from '../../support/http.js';
import { until } from '../../support/processes.js';

const REQUESTS = 8;
/** Of each response; together more than the operating system buffers on both sides. */
const BYTES = 1_048_576;

describe('Responses that are large together', () => {
  const api = ownApi({ REQUEST_TIMEOUT_MS: '500' });
  const account = accountOf(api);
  beforeAll(async () => {
    for (let count = 0; count < 5; count++) await api.sent(account, { message: 'x'.repeat(262_000) });
  });

  const open = () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect({ host: hostname, port: Number(port) });
    const seen = { bytes: 0, ended: false };
    socket.on('data', ({ length }) => (seen.bytes += length));
    // The server resets it when the client does not read.
    socket.on('error', () => undefined);
    socket.on('close', () => (seen.ended = true));
    const head = ['GET /messages HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${account.key}`];
    socket.write(lines(...head).repeat(REQUESTS));
    return { socket, seen };
  };
  const pause = async (socket: Socket, ms: number) => {
    socket.pause();
    await sleep(ms);
    socket.resume();
  };

  it('are not buffered for a client that does not read them', async () => {
    const { socket, seen } = open();
    // The server checks twice before it concludes that nothing is read.
    await pause(socket, 12_000);
    await until(() => seen.ended);

    expect(seen.bytes).toBeLessThan(REQUESTS * BYTES * 0.9);
  });

  it('arrive completely at a client that pauses now and then', async () => {
    const { socket, seen } = open();
    for (let count = 0; count < 3; count++) {
      await pause(socket, 700);
      await sleep(5);
    }
    await until(() => seen.bytes > REQUESTS * BYTES * 0.99 || seen.ended, 40_000);

    expect(seen.ended).toBe(false);
    socket.destroy();
  });
});
