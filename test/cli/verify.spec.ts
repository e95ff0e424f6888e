import { existsSync, readdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { accountForEach, OPERATOR, sharedApi } from '../support/api.js';
import { Cli } from '../support/cli.js';
import { listen, until } from '../support/processes.js';

const LEFT = /The account was not given back what it had\. Run sluice delivery handler\.\n$/;

describe('sluice verify', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  /** The next request that starts like this is answered with this status by a proxy before the API. */
  let fault: readonly [start: string, status: number, body?: string] | null;
  const proxy = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    if (fault !== null && `${method} ${url} `.startsWith(fault[0])) {
      outgoing.writeHead(fault[1]).end(fault[2] ?? '{}');
      fault = null;
      return;
    }
    const passed = request(new URL(url, api.url), { method, headers }, (response) => {
      response.pipe(outgoing.writeHead(response.statusCode ?? 0, response.headers));
    });
    incoming.pipe(passed.on('error', () => outgoing.destroy()));
  });
  let url: string;
  let cli: Cli;
  beforeAll(async () => {
    url = await listen(proxy);
  });
  beforeEach(() => {
    fault = null;
    cli = new Cli({ SLUICE_BASE_URL: url, SLUICE_API_KEY: account.key });
  });
  afterEach(() => {
    cli.remove();
  });
  afterAll(() => {
    proxy.close();
    proxy.closeAllConnections();
  });

  const verify = (...args: string[]) =>
    cli.run(['verify', '--messages', '20', '--callers', '2', '--settle', '60', ...args], { env: { TMPDIR: cli.home } });
  const delivery = async () => (await api.ask(account)).body.delivery;
  const ledgers = () => readdirSync(cli.home).filter((name) => name.endsWith('.ndjson'));

  it('leaves no ledger when every guarantee was kept, unless it was named', async () => {
    expect(await verify('--consume', 'pull')).toMatchObject({ code: 0 });
    expect(ledgers()).toEqual([]);
    const path = `${cli.home}/named`;
    expect(await verify('--consume', 'pull', '--ledger', path)).toMatchObject({ code: 0 });
    expect(existsSync(path)).toBe(true);
  });

  it('exits with 1 when a guarantee was broken, and keeps the ledger', async () => {
    // Acknowledged, and never stored.
    fault = ['POST /messages ', 202];
    const { code, stdout } = await verify('--consume', 'pull');
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('A guarantee was broken.') as string });
    expect(ledgers()).toHaveLength(1);
  });

  it('gives the account back what it had when messages cannot be listed, and keeps the ledger', async () => {
    fault = ['GET /messages?limit=100', 404];
    const { code, stderr } = await verify('--consume', 'pull');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('could not be listed') as string });
    expect(await delivery()).toBe('handler');
    expect(ledgers()).toHaveLength(1);
  });

  const sent = async () => ((await api.ask(account, 'GET /messages?limit=100')).body.data as unknown[]).length;
  /** Has sent messages, one after the other: all but the last one are acknowledged. */
  const consuming = async (...args: string[]) => {
    const running = cli.start(['verify', '--consume', 'pull', '--callers', '1', '--rate', '20', ...args]);
    await until(async () => (await sent()) > 2);
    return running;
  };

  it('gives the account back what it had when it is stopped', async () => {
    const running = await consuming();
    expect(await delivery()).toBe('pull');
    running.signal('SIGTERM');
    expect(await running.ended()).toMatchObject({ code: 0 });
    expect(await delivery()).toBe('handler');
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'says what the account is not given back when it is ended by a second %s',
    async (name) => {
      const running = await consuming();
      // What it waits for now.
      await api.ask(account, 'PATCH /account', { paused: true });
      let isEnded = false;
      const ended = running.ended().finally(() => (isEnded = true));
      // The first ones count as one signal.
      await until(() => {
        running.signal(name);
        return isEnded;
      });
      expect(await ended).toMatchObject({ code: 130, stderr: expect.stringMatching(LEFT) as string });
      expect(await delivery()).toBe('pull');
    },
  );

  const operate = (change: object) => api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, change);
  it.each([
    ['the account is suspended', /403 account_suspended/, () => operate({ suspended: true })],
    ['the key is revoked', /401 unauthorized/, (id: string) => api.ask(account, `DELETE /api-keys/${id}`)],
  ])('says why there is no result, then what the account is not given back, when %s', async (_what, reason, refuse) => {
    const scopes = ['messages:send', 'messages:read', 'messages:consume', 'account:manage'];
    const { id, key } = await api.createKey(account, { scopes });
    cli.remove();
    cli = new Cli({ SLUICE_BASE_URL: url, SLUICE_API_KEY: key });
    const running = await consuming();
    await refuse(id);
    running.signal('SIGTERM');
    const { code, stderr } = await running.ended();
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(new RegExp(`${reason.source}.*\n${LEFT.source}`)) as string,
    });
  });

  it('says the verdict, then what the account is not given back, when only that is refused', async () => {
    const running = await consuming();
    fault = ['PATCH /account', 403];
    running.signal('SIGTERM');
    const { code, stdout, stderr } = await running.ended();
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: expect.stringContaining('Every guarantee was kept.') as string,
      stderr: expect.stringMatching(LEFT) as string,
    });
  });

  it('pulls what is left when it was killed, and gives the account back what it had', async () => {
    const args = ['--ledger', `${cli.home}/ledger`];
    const killed = await consuming(...args);
    await api.ask(account, 'PATCH /account', { paused: true });
    const before = await sent();
    await until(async () => (await sent()) > before + 2);
    killed.signal('SIGKILL');
    await killed.ended();
    await api.ask(account, 'PATCH /account', { paused: false });
    expect(await verify('--resume', ...args)).toMatchObject({ code: 0 });
    expect(await delivery()).toBe('handler');
    expect((await api.ask(account, 'GET /messages?status=queued')).body.data).toEqual([]);
  });

  it.each([{ paused: true }, { delivery: 'handler' }, { delivery: 'webhooks' }])(
    'calls nothing broken that nobody consumes after %j',
    async (change) => {
      const running = await consuming('--settle', '3');
      await api.ask(account, 'PATCH /account', change);
      const before = await sent();
      await until(async () => (await sent()) > before + 2);
      running.signal('SIGTERM');
      const { code, stdout } = await running.ended();
      expect({ code, stdout }).toEqual({ code: 2, stdout: expect.not.stringContaining('BROKEN') as string });
      expect(stdout).toMatch(/delivered at least once +UNKNOWN \d+ times\n/);
      expect(await delivery()).toBe('handler');
    },
  );

  it.each(['GET /api-keys/current', 'GET /account', 'PATCH /account'])(
    'changes nothing for long when %s fails',
    async (path) => {
      fault = [path, 503];
      const { code, stderr } = await verify('--consume', 'pull');
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining(`${path} failed: 503`) as string,
      });
      expect(await delivery()).toBe('handler');
    },
  );

  it('is inconclusive without a message', async () => {
    const { code, stdout, stderr } = await verify('--duration', '0');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('No message was acknowledged, so that there was nothing to verify.');
  });

  it.each([
    [429, '{"detail":"Retry after 5 s."}', 'Retry after 5 s.'],
    [503, '{"detail":"Not \\u001b[2Jready."}', 'Not \\u001b[2Jready.'],
    [503, '{"detail":5}', 'is it Sluice?'],
    [503, 'null', 'is it Sluice?'],
    [502, '<h1>Bad Gateway</h1>', 'is it Sluice?'],
    [204, '', 'is it Sluice?'],
  ])('says why it cannot begin: %i %s', async (status, body, reason) => {
    fault = ['GET /messages?limit=1 ', status, body];
    const { code, stderr } = await verify();
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`/messages returned ${status}: ${reason}`) as string,
    });
  });

  it('names the scopes that a key needs to consume', async () => {
    const { key } = await api.createKey(account, { scopes: ['messages:send', 'messages:read', 'account:manage'] });
    const refused = await cli.run(['verify', '--consume', 'pull'], { env: { SLUICE_API_KEY: key } });
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the key needs the scopes account:manage and messages:consume.') as string,
    });
  });

  it('checks the URL of its receiver before it writes anything', async () => {
    const refused = await verify('--consume', 'webhooks', '--receive', 'http://10.0.0.1');
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('It must be a URL with a port') as string,
    });
    expect(ledgers()).toEqual([]);
  });
});
