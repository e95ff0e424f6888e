import { setTimeout as sleep } from 'node:timers/promises';
import { Fleet } from '../support/fleet.js';
import { goodClient } from '../support/good-client.js';
import { lines, RawConnection } from '../support/http.js';

const CONNECTIONS = Number(process.env.HANGING_CONNECTIONS ?? 200);
/** Connections opened concurrently: the backlog of the listening socket is limited. */
const AT_ONCE = 200;

it(`${CONNECTIONS} hanging connections do not delay other clients`, async () => {
  const fleet = await Fleet.startProcesses({ REQUEST_TIMEOUT_MS: '120000' });
  const { key } = fleet.account;
  const { url } = fleet.client;
  const hanging: RawConnection[] = [];
  try {
    const before = await goodClient(url, key);
    while (hanging.length < CONNECTIONS) {
      const length = Math.min(AT_ONCE, CONNECTIONS - hanging.length);
      hanging.push(...(await Promise.all(Array.from({ length }, (_, index) => hang(url, key, index)))));
    }
    await sleep(500);
    const during = await goodClient(url, key);
    process.stdout.write(`without them: ${JSON.stringify(before)}, with ${CONNECTIONS}: ${JSON.stringify(during)}\n`);

    expect(Object.keys(during.statuses)).toEqual(['202']);
  } finally {
    for (const connection of hanging) connection.close();
    await fleet.stop();
  }
}, 300_000);

/** A connection that sends nothing, stops within its head or body, sends a byte now and then, or does not read. */
async function hang(url: string, key: string, kind: number): Promise<RawConnection> {
  const connection = await RawConnection.open(url);
  const head = ['POST /messages HTTP/1.1', 'Host: sluice', 'Content-Type: application/json'];
  if (kind % 5 === 1) connection.write('GET /messages HTTP/1.1\r\nHost: sl');
  if (kind % 5 === 2) connection.write(lines(...head, `Authorization: Bearer ${key}`, 'Content-Length: 15') + '{"m');
  if (kind % 5 === 3) {
    connection.write('GET /messages HTTP/1.1\r\nHost: sluice\r\nX-Slow: ');
    connection.drip('a', 2_000);
  }
  if (kind % 5 === 4) {
    connection.socket.pause();
    connection.write(lines('GET /account HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${key}`).repeat(2));
  }
  return connection;
}
