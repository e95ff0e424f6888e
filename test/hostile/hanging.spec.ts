import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase } from '../support/database.js';
import { call, lines, RawConnection } from '../support/http.js';
import { SETTINGS, TestApi } from '../support/api.js';
import { freePort, Program } from '../support/processes.js';

const CONNECTIONS = Number(process.env.HANGING_CONNECTIONS ?? 200);
const CALLERS = 8;
const REQUESTS = Math.max(200, CONNECTIONS / 2);
/** Connections opened concurrently: the backlog of the listening socket is limited. */
const AT_ONCE = 200;
const MAX_P99_MS = 10_000;

describe(`${CONNECTIONS} connections that hang`, () => {
  it('do not delay other clients', async () => {
    const database = await createTestDatabase();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const client = TestApi.at(url, database.url);
    const settings = { DATABASE_URL: database.url, PORT: String(port), REQUEST_TIMEOUT_MS: '120000' };
    const program = Program.run('dist/apps/api/main.js', { ...SETTINGS, ...settings, LOG_LEVEL: 'info' });
    const hanging: RawConnection[] = [];
    try {
      await program.printed('listening');
      const { key } = await client.signUp();
      await latencies(url, key, REQUESTS);
      const before = await latencies(url, key, REQUESTS);
      while (hanging.length < CONNECTIONS) {
        const some = Array.from({ length: Math.min(AT_ONCE, CONNECTIONS - hanging.length) }, (_, index) =>
          hang(url, key, index),
        );
        hanging.push(...(await Promise.all(some)));
      }
      await sleep(2_000);
      const during = await latencies(url, key, REQUESTS);
      print('without them', before);
      print(`with ${CONNECTIONS}`, during);

      expect(percentile(during, 99)).toBeLessThan(MAX_P99_MS);
    } finally {
      for (const connection of hanging) connection.close();
      program.signal('SIGTERM');
      await program.ended();
      await client.stop();
      await database.drop();
    }
  }, 300_000);
});

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
    connection.stopReading();
    connection.write(lines('GET /account HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${key}`).repeat(2));
  }
  return connection;
}

/** Response times in milliseconds of requests from a few clients with persistent connections. */
async function latencies(url: string, key: string, count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const took: number[] = [];
  const caller = async () => {
    for (let sent = 0; sent < count / CALLERS; sent++) {
      const start = performance.now();
      const { status } = await call(url, {
        method: 'POST',
        path: '/messages',
        headers,
        body: '{"message":"x"}',
        agent,
      });
      if (status !== 202) throw new Error(`The status is ${status}.`);
      took.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  agent.destroy();
  return took.sort((one, other) => one - other);
}

function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? NaN;
}

function print(what: string, sorted: readonly number[]): void {
  const figures = [50, 99].map((percent) => `p${percent} ${percentile(sorted, percent).toFixed(1)} ms`);
  process.stdout.write(`${what}: ${figures.join(', ')}\n`);
}
