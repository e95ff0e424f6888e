import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { accountOf, ownApi } from '../../support/api.js';
import { lines } from '../../support/http.js';
import { until } from '../../support/processes.js';

const REQUESTS = 8;
/** Of each answer, in bytes; together more than the operating system keeps for both sides. */
const ABOUT = 1_048_576;

describe('answers that together are large', () => {
  const api = ownApi({ REQUEST_TIMEOUT_MS: '500' });
  const account = accountOf(api);
  beforeAll(async () => {
    for (let count = 0; count < 5; count++) await api.sent(account, { message: 'x'.repeat(262_000) });
  });

  const ask = () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect({ host: hostname, port: Number(port) });
    const seen = { bytes: 0, ended: false };
    socket.on('data', ({ length }) => (seen.bytes += length));
    // It is reset when the server has more to say than it may.
    socket.on('error', () => undefined);
    socket.on('close', () => (seen.ended = true));
    const head = ['GET /messages HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${account.key}`];
    socket.write(lines(...head).repeat(REQUESTS));
    return { socket, seen };
  };
  const pauses = async (socket: Socket, ms: number) => {
    socket.pause();
    await sleep(ms);
    socket.resume();
  };

  it('are not kept for a caller who does not read them', async () => {
    const { socket, seen } = ask();
    // The clock of a connection looks twice before it believes that nothing moves.
    await pauses(socket, 12_000);
    await until(() => seen.ended, 10_000);

    expect(seen.bytes).toBeLessThan(REQUESTS * ABOUT * 0.9);
  }, 40_000);

  it('arrive whole at one who pauses now and then', async () => {
    const { socket, seen } = ask();
    for (let count = 0; count < 3; count++) {
      await pauses(socket, 700);
      await sleep(5);
    }
    await until(() => seen.bytes > REQUESTS * ABOUT * 0.99 || seen.ended, 40_000);

    expect(seen.ended).toBe(false);
    socket.destroy();
  }, 60_000);
});
