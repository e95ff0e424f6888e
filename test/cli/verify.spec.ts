import { existsSync, readdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { accountForEach, sharedApi } from '../support/api.js';
import { Cli } from '../support/cli.js';
import { listen, until } from '../support/processes.js';

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

  it('gives the account back what it had when it is stopped', async () => {
    const running = cli.start(['verify', '--consume', 'pull', '--settle', '60', '--callers', '1', '--rate', '20']);
    await running.printed('Verifying');
    await until(async () => (await delivery()) === 'pull');
    // One after the other: the first two are acknowledged.
    await until(async () => ((await api.ask(account, 'GET /messages')).body.data as unknown[]).length > 2);
    running.signal('SIGTERM');
    expect(await running.ended()).toMatchObject({ code: 0 });
    expect(await delivery()).toBe('handler');
  });

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
