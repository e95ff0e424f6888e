import { Agent, request } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { lines, RawConnection } from '../support/http.js';
import { SETTINGS, TestApi } from '../support/api.js';
import { freePort, Program, until } from '../support/processes.js';

const CALLERS = 32;
const GRACE_MS = 8_000;

interface Outcome {
  readonly text: string;
  /** Null when the connection broke instead. */
  readonly status: number | null;
  readonly closes: boolean;
}

describe('an API process that is told to stop', () => {
  let database: TestDatabase;
  let client: TestApi;
  let program: Program;
  let url: string;
  let key: string;

  beforeEach(async () => {
    database = await createTestDatabase();
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    program = Program.run('dist/apps/api/main.js', {
      ...SETTINGS,
      ...{ DATABASE_URL: database.url, PORT: String(port), LOG_LEVEL: 'info', SHUTDOWN_GRACE_MS: String(GRACE_MS) },
    });
    await program.printed('listening');
    client = TestApi.at(url, database.url);
    ({ key } = await client.signUp());
  });
  afterEach(async () => {
    program.signal('SIGKILL');
    await program.ended();
    await client.stop();
    await database.drop();
  });

  const send = (agent: Agent, text: string) =>
    new Promise<Outcome>((resolve) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const outgoing = request(`${url}/messages`, { method: 'POST', agent, headers }, (answer) => {
        answer.resume().on('close', () => {
          const { statusCode: status = 0, headers } = answer;
          resolve({ text, status: answer.complete ? status : null, closes: headers.connection === 'close' });
        });
      });
      outgoing.on('error', () => {
        resolve({ text, status: null, closes: true });
      });
      outgoing.end(JSON.stringify({ message: text }));
    });

  it('answers every request that it took in, stores none that it did not answer, and ends with 0', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
    const outcomes: Outcome[] = [];
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      for (let count = 0; program.running; count++) outcomes.push(await send(agent, `${caller}.${count}`));
    });
    const idle = await Promise.all(Array.from({ length: 10 }, () => RawConnection.open(url)));
    idle[0]?.write('POST /messages HTTP/1.1\r\nHost: sluice\r\n');
    await until(() => outcomes.length > 5 * CALLERS, 20_000);
    const toldAt = performance.now();
    program.signal('SIGTERM');
    const code = await program.ended();
    const tookMs = performance.now() - toldAt;
    await Promise.all(callers);
    agent.destroy();
    for (const connection of idle) connection.close();

    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(GRACE_MS);
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([202, null]));
    expect(outcomes.some(({ status, closes }) => status === 202 && closes)).toBe(true);
    const rows = await client.sql<{ text: string }>('SELECT text FROM sluice.messages');
    const acknowledged = outcomes.filter(({ status }) => status === 202).map(({ text }) => text);
    expect(rows.map(({ text }) => text).toSorted()).toEqual(acknowledged.toSorted());
  });

  const held = async () => {
    const connection = await RawConnection.open(url);
    const head = ['POST /messages HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${key}`];
    connection.write(lines(...head, 'Content-Type: application/json', 'Content-Length: 15'));
    await until(async () => {
      const rows = await client.sql('SELECT FROM sluice.rate_limits WHERE minute_used = 1');
      return rows.length === 1;
    }, 10_000);
    return connection;
  };

  it('waits for a request that is still arriving', async () => {
    const connection = await held();
    program.signal('SIGTERM');
    await program.printed('stopping');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    connection.write('{"message":"x"}');
    const answer = await connection.answer();

    expect([answer.status, answer.headers.connection]).toEqual([202, 'close']);
    expect(await program.ended()).toBe(0);
    connection.close();
  });

  it('ends at once when it is told again', async () => {
    const connection = await held();
    program.signal('SIGTERM');
    await program.printed('stopping');
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(program.running).toBe(true);
    const toldAt = performance.now();
    program.signal('SIGTERM');

    expect(await program.ended()).toBe(1);
    expect(performance.now() - toldAt).toBeLessThan(GRACE_MS / 2);
    connection.close();
  });
});

describe('a process that is told to stop before it serves', () => {
  let silent: Server;
  let program: Program;
  const connections: Socket[] = [];

  beforeEach(async () => {
    silent = createServer((socket) => connections.push(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    program.signal('SIGKILL');
    await program.ended();
    for (const connection of connections.splice(0)) connection.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  it.each(['api', 'worker'])('ends with 0: %s', async (name) => {
    const { port } = silent.address() as AddressInfo;
    program = Program.run(`dist/apps/${name}/main.js`, {
      ...SETTINGS,
      DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/nothing`,
    });
    await until(() => connections.length > 0, 30_000);
    program.signal('SIGTERM');
    expect(await program.ended()).toBe(0);
  });
});
