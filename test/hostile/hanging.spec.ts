import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../bench/report/stats.js';
import { Fleet } from '../support/fleet.js';
import { call, lines, RawConnection } from '../support/http.js';

const CONNECTIONS = Number(process.env.HANGING_CONNECTIONS ?? 200);
const CALLERS = 8;
const REQUESTS = Math.max(200, CONNECTIONS / 2);
/** Connections opened concurrently: the backlog of the listening socket is limited. */
const AT_ONCE = 200;
const MAX_P99_MS = 10_000;

it(`${CONNECTIONS} hanging connections do not delay other clients`, async () => {
  const fleet = await Fleet.startProcesses({ REQUEST_TIMEOUT_MS: '120000' });
  const { url } = fleet.client;
  const { key } = fleet.account;
  const hanging: RawConnection[] = [];
  try {
    await latencies(url, key, REQUESTS);
    const before = await latencies(url, key, REQUESTS);
    while (hanging.length < CONNECTIONS) {
      const length = Math.min(AT_ONCE, CONNECTIONS - hanging.length);
      hanging.push(...(await Promise.all(Array.from({ length }, (_, index) => hang(url, key, index)))));
    }
    await sleep(2_000);
    const during = await latencies(url, key, REQUESTS);
    print('without them', before);
    print(`with ${CONNECTIONS}`, during);

    expect(percentile(during, 0.99)).toBeLessThan(MAX_P99_MS);
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

/** Response times in milliseconds of requests from a few clients with persistent connections. */
async function latencies(url: string, key: string, count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const request = { method: 'POST', path: '/messages', headers, body: '{"message":"x"}' };
  const took: number[] = [];
  const caller = async () => {
    for (let sent = 0; sent < count / CALLERS; sent++) {
      const start = performance.now();
      const { status } = await call(url, { ...request, agent });
      if (status !== 202) throw new Error(`The status is ${status}.`);
      took.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  agent.destroy();
  return took.sort((one, other) => one - other);
}

function print(what: string, sorted: readonly number[]): void {
  const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
  process.stdout.write(`${what}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n`);
}
