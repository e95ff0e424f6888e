import { Writable } from 'node:stream';
import { pino } from 'pino';
import { readSettings } from '#platform/settings.js';
import { startApi, type Api } from '../../../apps/api/api.js';
import { startTestApi, type TestAccount, type TestApi } from '../../support/api.js';
import { call, exchange, lines, RawConnection } from '../../support/http.js';
import { until } from '../../support/processes.js';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly requestId?: string;
  readonly [name: string]: unknown;
}

const OPERATORS_KEY = 'an-operators-key-of-32-characters';
const WARN = 40;
const INFO = 30;

/** A process whose log the test reads, beside one that makes the accounts. */
class LoggedApi {
  private constructor(
    private readonly api: Api,
    private readonly written: string[],
  ) {}

  static async start(environment: TestApi['environment'], sample: string, level = 'info'): Promise<LoggedApi> {
    const written: string[] = [];
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        written.push(chunk.toString());
        done();
      },
    });
    const settings = readSettings({ ...environment, ACCESS_LOG_SAMPLE: sample });
    return new LoggedApi(await startApi(settings, pino({ level }, stream)), written);
  }

  get url(): string {
    return this.api.url;
  }

  get text(): string {
    return this.written.join('');
  }

  get requests(): Line[] {
    return this.written.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === 'request');
  }

  /** The line of a request, once it is there. */
  async line(requestId: string): Promise<Line> {
    let line: Line | undefined;
    await until(() => (line = this.requests.find((one) => one.requestId === requestId)) !== undefined, 5_000);
    return line ?? Promise.reject(new Error('It has no line.'));
  }

  stop(): Promise<void> {
    return this.api.stop();
  }
}

describe('The access log', () => {
  let accounts: TestApi;
  let account: TestAccount;
  let api: LoggedApi;

  beforeAll(async () => {
    accounts = await startTestApi({ ADMIN_API_KEY: OPERATORS_KEY });
    account = await accounts.signUp();
    api = await LoggedApi.start(accounts.environment, '1');
  });

  afterAll(async () => {
    await api.stop();
    await accounts.stop();
  });

  function send(requestId: string, key = account.key, url = api.url) {
    return call(url, {
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
    const { level, time, durationMs, ...line } = await api.line('one');
    expect({ level, time: typeof time }).toEqual({ level: INFO, time: 'number' });
    expect(durationMs).toBeGreaterThan(0);
    expect(line).toEqual({
      ...{ msg: 'request', requestId: 'one', method: 'POST', route: '/messages', status: 202 },
      ...{ accountId: account.id, keyId: account.keyId, pid: line.pid, hostname: line.hostname },
    });
    expect(api.requests.filter(({ requestId }) => requestId === 'one')).toHaveLength(1);
  });

  it('has the pattern of a path, also where nothing was found, and no caller where there is none', async () => {
    await call(api.url, { path: '/messages/msg_unknown', headers: { 'x-request-id': 'stranger' } });
    const line = await api.line('stranger');
    expect(line).toMatchObject({ method: 'GET', route: '/messages/:id', status: 401 });
    expect(line).not.toHaveProperty('accountId');
    await call(api.url, { path: '/in-the-path', headers: { 'x-request-id': 'lost' } });
    expect((await api.line('lost')).route).not.toContain('in-the-path');
  });

  it('has a line for what could not be read, with the id that was answered', async () => {
    const { headers } = await exchange(api.url, lines('NONSENSE in-the-line'));
    expect(await api.line(headers['x-request-id'] ?? '')).toMatchObject({ method: 'none', route: 'none', status: 400 });
  });

  it('has a line for a request whose caller has gone', async () => {
    const connection = await RawConnection.open(api.url);
    const head = ['POST /messages HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${account.key}`];
    const body = ['Content-Type: application/json', 'Content-Length: 100', 'Expect: 100-continue'];
    connection.write(lines(...head, ...body, 'X-Request-Id: gone'));
    expect((await connection.answer()).status).toBe(100);
    connection.reset();
    expect(await api.line('gone')).toMatchObject({ level: INFO, route: '/messages', status: 'aborted' });
  });

  it('never holds a key, a query, a header or a body', async () => {
    await send('operators', OPERATORS_KEY);
    await send('nonsense', 'slc_a-key-that-nobody-has');
    await call(api.url, { path: `/api-keys/${account.key}`, headers: { authorization: `Bearer ${account.key}` } });
    await call(api.url, { path: '/x', headers: { authorization: `Basic ${account.key}`, 'x-request-id': 'basic' } });
    await api.line('basic');
    for (const secret of [
      ...[account.key, OPERATORS_KEY, 'slc_', 'pepper', 'in-the-', 'idempotency-of', 'an-agent', 'authorization'],
    ]) {
      expect(api.text).not.toContain(secret);
    }
  });

  it('warns of every request that we failed, whatever the sample', async () => {
    const quiet = await LoggedApi.start(accounts.environment, '0', 'warn');
    try {
      await send('well', account.key, quiet.url);
      await accounts.sql('ALTER TABLE sluice.messages RENAME TO elsewhere');
      expect((await send('ill', account.key, quiet.url)).status).toBe(500);
      expect(await quiet.line('ill')).toMatchObject({ level: WARN, status: 500, route: '/messages' });
      expect(quiet.requests.map(({ requestId }) => requestId)).toEqual(['ill']);
    } finally {
      await accounts.sql('ALTER TABLE sluice.elsewhere RENAME TO messages');
      await quiet.stop();
    }
  });
});
