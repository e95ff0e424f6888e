import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SETTINGS } from '../support/api.js';
import { Fleet } from '../support/fleet.js';
import { createTestDatabase } from '../support/database.js';
import { callUndocumented, isLate, lines, RawConnection } from '../support/http.js';
import { Program, ROOT, until } from '../support/processes.js';

const CALLERS = 32;
const GRACE_MS = 60_000;
const BODY = '{"message":"x"}';
describe('An API process that is stopped', () => {
  let fleet: Fleet;

  beforeEach(async () => {
    fleet = await Fleet.startProcesses({ SHUTDOWN_GRACE_MS: String(GRACE_MS) });
  });
  afterEach(() => fleet.stop());

  const send = async (agent: Agent, text: string) => {
    const headers = { authorization: `Bearer ${fleet.account.key}`, 'content-type': 'application/json' };
    const request = { method: 'POST', path: '/messages', headers, body: JSON.stringify({ message: text }), agent };
    try {
      const response = await callUndocumented(fleet.client.url, request);
      const closes = response.headers.connection === 'close';
      return { text, status: response.status, closes, isLate: isLate(response) };
    } catch {
      // The connection was closed without a response.
      return { text, status: null, closes: true, isLate: false };
    }
  };

  /** A request of which the body is missing. */
  const beginRequest = async () => {
    const connection = await RawConnection.open(fleet.client.url);
    const head = ['POST /messages HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${fleet.account.key}`];
    connection.write(lines(...head, 'Content-Type: application/json', `Content-Length: ${BODY.length}`));
    const isCounted = 'SELECT FROM sluice.rate_limits WHERE minute_used > 0';
    await until(async () => (await fleet.sql(isCounted)).length === 1);
    return connection;
  };

  it('responds to every request that it accepted, also to one that is still arriving, stores no other, and exits with 0', async () => {
    const arriving = await beginRequest();
    const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
    const outcomes: Awaited<ReturnType<typeof send>>[] = [];
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      for (let count = 0; fleet.api.running; count++) outcomes.push(await send(agent, `${caller}.${count}`));
    });
    const idle = await Promise.all(Array.from({ length: 10 }, () => RawConnection.open(fleet.client.url)));
    idle[0]?.write('POST /messages HTTP/1.1\r\nHost: sluice\r\n');
    await until(() => outcomes.length > 5 * CALLERS);
    const stoppedAt = performance.now();
    fleet.api.signal('SIGTERM');
    await fleet.api.printed('stopping');
    await sleep(1_000);
    expect(fleet.api.running).toBe(true);
    arriving.write(BODY);
    const response = await arriving.response();
    expect([response.status, response.headers.connection]).toEqual([202, 'close']);
    expect(await fleet.api.ended()).toBe(0);
    expect(performance.now() - stoppedAt).toBeLessThan(GRACE_MS);
    await Promise.all(callers);
    agent.destroy();
    for (const connection of [arriving, ...idle]) connection.close();

    const inTime = outcomes.filter((outcome) => !outcome.isLate);
    expect(new Set(inTime.map(({ status }) => status))).toEqual(new Set([202, null]));
    expect(outcomes.some(({ status, closes }) => status === 202 && closes)).toBe(true);
    const rows = await fleet.sql<{ text: string }>('SELECT text FROM sluice.messages');
    const acknowledged = outcomes.filter(({ status }) => status === 202).map(({ text }) => text);
    // A message may be stored, and its key verified too late by a busy machine.
    const late = new Set(outcomes.filter((outcome) => outcome.isLate).map(({ text }) => text));
    const stored = rows.map(({ text }) => text).filter((text) => !late.has(text));
    expect(stored.toSorted()).toEqual(['x', ...acknowledged].toSorted());
  });

  it('exits at once at a second signal, but not when its terminal is closed', async () => {
    const connection = await beginRequest();
    fleet.api.signal('SIGTERM');
    await fleet.api.printed('stopping');
    // A signal within a second of the first is the same: from the terminal and once more from npm.
    await sleep(1_200);
    fleet.api.signal('SIGHUP');
    await sleep(200);
    expect(fleet.api.running).toBe(true);
    const stoppedAt = performance.now();
    fleet.api.signal('SIGTERM');

    expect(await fleet.api.ended()).toBe(1);
    expect(performance.now() - stoppedAt).toBeLessThan(GRACE_MS / 2);
    connection.close();
  });
});

it.each(['api', 'worker'])(
  'A process that is stopped while it connects to the database exits with 0: %s',
  async (name) => {
    const connections: Socket[] = [];
    const silent = createServer((socket) => connections.push(socket.on('error', () => undefined)));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const DATABASE_URL = `postgres://nobody@127.0.0.1:${port}/nothing`;
    const program = Program.run(`dist/apps/${name}/main.js`, { ...SETTINGS, DATABASE_URL });
    await until(() => connections.length > 0);
    program.signal('SIGTERM');
    try {
      expect(await program.ended()).toBe(0);
    } finally {
      program.signal('SIGKILL');
      for (const connection of connections) connection.destroy();
      silent.close();
    }
  },
);

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'])(
  'A process that gets %s when it has just started stops in order',
  async (name) => {
    const script = `
    import { runProcess } from './dist/libs/platform/process/process.js';
    import { readSettings } from './dist/apps/settings.js';
    const stop = async () => console.log('stopped');
    // Nothing else keeps it running.
    setTimeout(() => {}, 60_000);
    await runProcess('test', readSettings, null, async () => {
      process.kill(process.pid, '${name}');
      return { stop };
    });`;
    const database = await createTestDatabase();
    const env = { ...process.env, ...SETTINGS, DATABASE_URL: database.url };
    const args = ['--input-type=module', '--eval', script];
    const { status, signal, stdout } = spawnSync(process.execPath, args, {
      cwd: ROOT,
      env,
      encoding: 'utf8',
      timeout: 30_000,
    });
    await database.drop();
    expect([status, signal, stdout]).toEqual([0, null, 'stopped\n']);
  },
);

it('A process ends although what read its log is gone', async () => {
  const script = `
    import { createLogger } from './dist/libs/platform/observability/logging.js';
    const logger = createLogger('info', 'test');
    process.stdin.on('end', () => {
      for (const line of ['first', 'last']) logger.error(line);
      process.exit(0);
    }).resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: ROOT, stdio: 'pipe' });
  child.stdout.destroy();
  child.stdin.end();
  try {
    await until(() => child.exitCode !== null);
  } finally {
    child.kill('SIGKILL');
  }
});
