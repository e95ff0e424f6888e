import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { accountOf, OPERATOR, sharedApi } from '../support/api.js';
import { Cli, CLI_SCRIPT } from '../support/cli.js';
import { listen } from '../support/processes.js';

describe('The command line', () => {
  const api = sharedApi();
  const account = accountOf(api);
  let cli: Cli;
  let stranger: Cli;
  beforeAll(async () => {
    cli = new Cli({ SLUICE_BASE_URL: api.url, SLUICE_ADMIN_API_KEY: OPERATOR.key });
    stranger = new Cli({ SLUICE_BASE_URL: api.url });
    expect(await cli.run(['login'], { input: `${account.key}\n` })).toEqual({
      code: 0,
      stdout: `Logged in to ${api.url} as Test.\n`,
      stderr: '',
    });
  });
  afterAll(() => {
    cli.remove();
    stranger.remove();
  });

  describe('login', () => {
    it('keeps the key in a file that only its owner may read, and prints it nowhere', async () => {
      expect(statSync(cli.credentials).mode & 0o777).toBe(0o600);
      expect(readFileSync(cli.credentials, 'utf8')).toContain(account.key);
      const shown = await cli.run(['whoami']);
      expect(shown).toMatchObject({ code: 0, stderr: '' });
      expect(shown.stdout).toContain(account.id);
      expect(shown.stdout).not.toContain(account.key.slice(4, 12));
    });

    it('keeps nothing that the service refuses, and sends a key to no other service', async () => {
      const refused = await stranger.run(['login'], { env: { SLUICE_API_KEY: `${account.key}x` } });
      expect(refused).toMatchObject({ code: 3, stdout: '' });
      expect(refused.stderr).toMatch(/^error: The API key is unknown/);
      expect(() => statSync(stranger.credentials)).toThrow('ENOENT');
      const elsewhere = await cli.run(['list', '--base-url', 'http://127.0.0.1:9']);
      expect(elsewhere).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('no key for http://127.0.0.1:9') as string,
      });
    });

    it.each([
      ['a local one by default', [], 'http://127.0.0.1:3000'],
      ['what it is told', ['--url', 'http://127.0.0.1:9/'], 'http://127.0.0.1:9'],
    ])('does not choose what verify puts a load on: %s', async (_, args, url) => {
      const verified = await cli.run(['verify', ...args], { env: { SLUICE_BASE_URL: '' } });
      const stderr = expect.stringContaining(`no key for ${url}.`) as string;
      expect(verified).toMatchObject({ code: 3, stderr });
    });

    it('makes a file private that was not, and logout removes the key', async () => {
      const { key } = await api.createKey(account, { scopes: ['messages:send'] });
      await stranger.run(['login'], { env: { SLUICE_API_KEY: key } });
      chmodSync(stranger.credentials, 0o644);
      await stranger.run(['login'], { input: account.key });
      expect(statSync(stranger.credentials).mode & 0o777).toBe(0o600);
      expect(await stranger.run(['logout'])).toMatchObject({ code: 0 });
      expect(readFileSync(stranger.credentials, 'utf8')).not.toContain('slc_');
      expect(await stranger.run(['list'])).toMatchObject({ code: 3, stdout: '' });
    });
  });

  describe('send', () => {
    it('prints the id, and with --json the message', async () => {
      const { stdout } = await cli.run(['send', 'Order 4711 is paid']);
      expect((await api.ask(account, `GET /messages/${stdout.trim()}`)).body.message).toBe('Order 4711 is paid');
      expect(
        await cli.json('send', 'later', '--deliver-at', '2099-01-01', '--idempotency-key', 'k').catch(String),
      ).toMatch(/ended with 1: .*"code":"validation_failed"/);
    });

    it('sends a type, metadata with any names, and an ordering key', async () => {
      const fields = [
        '--type',
        'order.paid',
        '-m',
        'region=eu',
        '-m',
        '__proto__=a=b',
        '-m',
        'empty=',
        '-m',
        'region=us',
      ];
      const sent = await cli.json<{ id: string }>('send', 'hello', ...fields, '--ordering-key', 'customer-17');
      const expected = JSON.parse('{"region":"us","__proto__":"a=b","empty":""}') as object;
      const { body } = await api.ask(account, `GET /messages/${sent.id}`);
      expect(body).toMatchObject({ type: 'order.paid', orderingKey: 'customer-17' });
      expect(Object.entries(body.metadata as object).sort()).toEqual(Object.entries(expected).sort());
      const shown = (await cli.run(['get', sent.id])).stdout;
      expect(shown).toContain('Type\torder.paid\n');
      expect(shown).toContain('Metadata\t{"__proto__":"a=b","empty":"","region":"us"}\n');
      expect(shown).toContain('Ordering key\tcustomer-17\n');
      expect((await cli.run(['send', 'x', '--type', 'sluice.x'])).stderr).toContain('it is reserved');
    });

    it('sends standard input byte for byte, and refuses what is no text', async () => {
      const text = '\ufeff  two lines\r\nand a tab\t\n';
      const { stdout } = await cli.run(['send'], { input: text });
      expect((await api.ask(account, `GET /messages/${stdout.trim()}`)).body.message).toBe(text);
      expect(await cli.run(['send', '-'], { input: Buffer.from([0xff]) })).toMatchObject({
        code: 2,
        stderr: 'error: The message is not valid UTF-8: encode it, for example as base64.\n',
      });
    });
  });

  it('lists, shows, cancels and retries messages', async () => {
    const [failed, queued] = [await api.sent(account, { message: 'a\u001b[31m\tb' }), await api.sent(account)];
    await api.become(failed.id, 'failed');
    const { stdout } = await cli.run(['list', '--status', 'failed']);
    expect(stdout).toMatch(new RegExp(`^${failed.id}\tfailed\t[^\t]+Z\t1\t-\ta\\\\u001b\\[31m\\\\tb\n$`));
    const [listed] = await cli.json<{ message: string }[]>('list', '--status', 'failed');
    expect(listed?.message).toBe('a\u001b[31m\tb');
    expect((await cli.run(['get', failed.id])).stdout).toContain('Failure\tthe handler said no\n');
    expect(await cli.json('attempts', queued.id)).toEqual([]);
    expect(await cli.run(['attempts', queued.id])).toMatchObject({ code: 0, stdout: '' });
    expect(await cli.json('cancel', queued.id)).toMatchObject({ id: queued.id, status: 'cancelled' });
    expect(await cli.run(['cancel', queued.id, 'msg_unknown', failed.id])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: msg_.*\nerror: msg_unknown: .*\nerror: msg_.*\nerror: 3 of 3 failed\./,
      ) as string,
    });
    expect(await cli.json('retry', failed.id)).toMatchObject({ id: failed.id, status: 'queued' });
    await api.become(failed.id, 'failed');
    expect(await cli.json('retry', '--since', '2020-01-01', '--type', 'no.such')).toEqual({ count: 0 });
    expect(await cli.json('retry', '--since', '2020-01-01')).toEqual({ count: 1 });
  });

  it('lists and cancels by type and time', async () => {
    const other = await api.signUp();
    const env = { SLUICE_API_KEY: other.key };
    const ids: string[] = [];
    for (const type of ['order.paid', 'order.sent', 'order', undefined]) {
      ids.push((await api.sent(other, { body: { message: 'hello', type } })).id);
    }
    const [paid = '', sent = '', order = '', none = ''] = ids;
    const listed = async (...args: string[]) => {
      const { stdout } = await cli.run(['list', ...args], { env });
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split('\t')[0]);
    };
    expect(await listed('--type', 'order.*')).toEqual([sent, paid]);
    expect(await listed('--type', 'order', '--status', 'queued')).toEqual([order]);
    expect(await listed('--since', '2026-01-01', '--until', '2026-01-02')).toEqual([]);
    expect(await listed('--since', '2026-01-01')).toEqual([none, order, sent, paid]);
    expect((await cli.run(['list', '--type', 'order.paid'], { env })).stdout).toMatch(/\torder\.paid\thello\n$/);
    expect((await cli.run(['cancel', '--type', 'order.*'], { env })).stdout).toBe('2 messages cancelled.\n');
    expect(await listed('--status', 'queued')).toEqual([none, order]);
    expect((await cli.run(['cancel', '--all', '--json'], { env })).stdout).toBe('{"count":2}\n');
  });

  it('ends quietly when nobody reads on', async () => {
    await api.sendBatch(account, { messages: Array.from({ length: 150 }, () => 'x'.repeat(1_000)) });
    const script = `"${process.execPath}" "${CLI_SCRIPT}" list --limit 150 | head -1 | cut -c1-4; echo "\${PIPESTATUS[0]}"`;
    const options = { env: cli.env, stdio: 'pipe' } as const;
    expect(execFileSync('bash', ['-c', `{ ${script}; } 2>&1`], options).toString()).toBe('msg_\n0\n');
    const refused = `"${process.execPath}" "${CLI_SCRIPT}" list 2>&1 | true; echo "\${PIPESTATUS[0]}"`;
    expect(execFileSync('bash', ['-c', refused], { ...options, env: stranger.env }).toString()).toBe('3\n');
  });

  it('shows usage, and changes the delivery mode', async () => {
    expect((await cli.run(['usage'])).stdout).toMatch(/^Minute\t[\d,]+ of 100,000,000, resets in \d+ s\n/);
    expect(await cli.json('usage')).toMatchObject({ minute: { limit: 100_000_000 }, storage: {} });
    expect(await cli.json('delivery', 'pull')).toEqual({ delivery: 'pull' });
    expect((await api.ask(account)).body.delivery).toBe('pull');
  });

  it('pauses and resumes the deliveries of the account', async () => {
    const delivery = async () => /Delivery\t(.*)/.exec((await cli.run(['whoami'])).stdout)?.[1];
    expect(await cli.json('pause')).toEqual({ paused: true });
    expect((await api.ask(account)).body.paused).toBe(true);
    expect((await cli.run(['pause'])).stdout).toContain('until `sluice resume`');
    expect(await delivery()).toMatch(/, paused$/);
    expect((await cli.run(['admin', 'accounts', 'get', account.id])).stdout).toContain('State\tpaused');
    expect(await cli.json('resume')).toEqual({ paused: false });
    expect((await cli.run(['resume'])).stdout).toBe('Messages are delivered.\n');
    expect(await delivery()).not.toContain('paused');
  });

  it('shows what was accepted, as a table, JSON and CSV', async () => {
    const start = new Date(Date.now() - 100 * 86_400_000).toISOString().replace(/T.*/, 'T00:00:00.000Z');
    for (const hours of [0, 1, 2]) {
      await api.sql(
        `INSERT INTO sluice.usage (account_id, start, accepted, accepted_bytes, delivered, failed, cancelled)
         VALUES ($1, $2::timestamptz + $3 * interval '1 hour', 1000, 2048, 997, 2, 1)`,
        [account.id, start, hours],
      );
    }
    const line = (hour: number) => start.replace('00:00:00.000', `0${hour}:00:00`);
    const span = ['--since', line(0), '--until', line(2)];
    const row = (hour: number) => `${line(hour)}\t1,000\t2.0 KiB\t997\t2\t1\n`;
    expect((await cli.run(['usage', '--by', 'hour', ...span])).stdout).toBe(row(0) + row(1));
    expect(await cli.json('usage', '--by', 'day', ...span)).toMatchObject([{ start, accepted: 3_000 }]);
    const csv = (await cli.run(['usage', '--by', 'hour', '--csv', ...span])).stdout.split('\n');
    const lines = [0, 1].map((hour) => start.replace('T00', `T0${hour}`) + ',1000,2048,997,2,1');
    expect(csv).toEqual(['start,accepted,acceptedBytes,delivered,failed,cancelled', ...lines, '']);
    const all = await cli.run(['admin', 'usage', '--csv', ...span]);
    expect(all.stdout).toContain(`\n${start},${account.id},,3000,6144,2991,6,3\n`);
    const one = ['admin', 'usage', '--by', 'hour', '--account', account.id, ...span];
    expect((await cli.run(one)).stdout).toBe(row(0) + row(1));
    for (const wrong of [
      ['usage', '--csv'],
      ['usage', '--since', line(0)],
      ['usage', '--by', 'week'],
    ]) {
      expect(await cli.run(wrong)).toMatchObject({ code: 2, stdout: '' });
    }
  });

  it('creates, lists, rotates and revokes keys, and shows each key once', async () => {
    const created = await cli.run(['keys', 'create', 'billing', '--scope', 'messages:send', 'messages:read']);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^slc_\w+\n$/) as string });
    const id = /key_\w+/.exec(created.stderr)?.[0] ?? '';
    expect(await cli.run(['keys', 'list'])).toMatchObject({
      stdout: expect.stringMatching(new RegExp(`^${id}\tbilling\t.*\tmessages:send messages:read\n`)) as string,
    });
    expect(await cli.run(['keys', 'rotate', id])).toMatchObject({ code: 2, stdout: '' });
    const { id: next } = await cli.json('keys', 'rotate', id, '--grace', '60');
    expect(await cli.run(['keys', 'revoke', String(next)])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Confirm with --yes.') as string,
    });
    expect(await cli.json('keys', 'revoke', String(next), '--yes')).toEqual({ id: next, revoked: true });
    expect(await api.knows(created.stdout.trim())).toBe(true);
  });

  it('stays logged in with a key that was rotated, until it is revoked', async () => {
    const own = await api.createKey(account);
    await stranger.run(['login'], { input: own.key });
    const { id } = await stranger.json('keys', 'rotate', own.id, '--yes');
    expect(await stranger.run(['whoami'])).toMatchObject({ code: 0 });
    const revoked = await stranger.run(['keys', 'revoke', String(id), '--yes']);
    expect(revoked).toMatchObject({ code: 0, stderr: expect.stringContaining('you are logged out') as string });
    expect(await stranger.run(['whoami'])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^error: You have no key/) as string,
    });
  });

  it('prints a new key also if it cannot be saved', async () => {
    const own = await api.createKey(account);
    await stranger.run(['login'], { input: own.key });
    const script = `ulimit -f 0; "${process.execPath}" "${CLI_SCRIPT}" keys rotate ${own.id} --yes`;
    const { stdout, status } = spawnSync('bash', ['-c', script], { env: stranger.env, encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(await api.knows(stdout.trim())).toBe(true);
  });

  it('reports invalid arguments and failures of some as JSON', async () => {
    for (const [args, code, sentences] of [
      [['list', '--limit', '0'], 2, [/whole number from 1/]],
      [['retry', 'msg_unknown', '--until', '2030-01-01'], 2, [/--until requires --since/]],
      [['retry', 'msg_unknown', '--type', 'order.*'], 2, [/--type requires --since/]],
      [['endpoints', 'update', 'ep_unknown', '--enable', '--disable'], 2, [/cannot be used with/]],
      [['endpoints', 'update', 'ep_unknown'], 2, [/name what to change/]],
      [['endpoints', 'rotate-secret', 'ep_unknown'], 2, [/stops signing at once\? Confirm with --yes/]],
      [['admin', 'accounts', 'update', 'acct_unknown'], 2, [/name what to change/]],
      [['admin', 'accounts', 'delete', 'acct_unknown'], 2, [/for good\? Confirm with --yes/]],
      [['send', 'hello', '--from-line', '2'], 2, [/--from-line requires --batch/]],
      [['listen', '--forward-to', 'ftp://127.0.0.1/', '--yes'], 2, [/--forward-to must be a URL like/]],
      [['listen', '--forward-to', 'http://:secret@127.0.0.1/', '--yes'], 2, [/--forward-to must be (?!.*secret)/]],
      [['list', '--base-url', 'nowhere'], 2, [/--base-url must be a URL like/]],
      [['list', '--base-url', 'http://:secret@127.0.0.1'], 2, [/--base-url must be a URL like (?!.*secret)/]],
      [['send', '--batch', 'nofile'], 2, [/nofile cannot be read: there is no such file\./]],
      [['keys'], 2, [/A command is missing/]],
      [['cancel', 'msg_a', 'msg_b'], 1, [/no message/, /no message/, /2 of 2 failed/]],
    ] as const) {
      const failed = await cli.run([...args, '--json']);
      expect(failed).toMatchObject({ code, stdout: '' });
      const errors = failed.stderr.trim().split('\n');
      const messages = errors.map((line) => (JSON.parse(line) as { error: { message: string } }).error.message);
      expect(messages).toEqual(sentences.map((sentence) => expect.stringMatching(sentence) as string));
    }
  });

  it('manages endpoints', async () => {
    const created = await cli.run(['endpoints', 'create', 'https://example.com/hooks', '--description', 'orders']);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whsec_\S+\n$/) as string });
    const id = /ep_\w+/.exec(created.stderr)?.[0] ?? '';
    expect(await cli.json('endpoints', 'replay', id, '--since', '2026-01-01')).toEqual({ count: 0 });
    expect(await cli.json('endpoints', 'update', id, '--disable', '--rate-limit', '5')).toMatchObject({
      enabled: false,
      rateLimitPerSecond: 5,
      description: 'orders',
    });
    expect((await cli.run(['endpoints', 'list'])).stdout).toContain('disabled (by_account)');
    expect(await cli.json('list', '--endpoint', id)).toEqual([]);
    expect((await cli.run(['endpoints', 'rotate-secret', id, '--yes'])).stdout).toMatch(/^whsec_/);
    expect(await cli.json('endpoints', 'delete', id, '--yes')).toEqual({ id, deleted: true });
    expect(await cli.run(['endpoints', 'get', id])).toMatchObject({ code: 1, stdout: '' });
  });

  it('says which messages an endpoint gets, and what is sent along', async () => {
    const types = ['--type', 'order.*', '--type', 'sluice.message.failed'];
    const headers = ['--header', 'X-Tenant: a: b', '--header', 'Authorization:Bearer hidden'];
    const created = await cli.json<{ id: string }>(
      ...['endpoints', 'create', 'https://example.com/typed', ...types, ...headers],
    );
    const { id } = created;
    const headerNames = ['X-Tenant', 'Authorization'];
    expect(created).toMatchObject({ types: ['order.*', 'sluice.message.failed'], headerNames });
    const shown = (await cli.run(['endpoints', 'get', id])).stdout;
    expect(shown).toContain('Types\torder.*, sluice.message.failed\n');
    expect(shown).toContain('Headers\tX-Tenant, Authorization\n');
    expect(shown + (await cli.run(['endpoints', 'list'])).stdout).not.toContain('hidden');
    const update = (...args: string[]) => cli.json('endpoints', 'update', id, ...args);
    expect(await update('--type', 'user.new')).toMatchObject({ types: ['user.new'], headerNames });
    expect(await update('--all-types')).toMatchObject({ types: [], headerNames });
    expect((await cli.run(['endpoints', 'list'])).stdout).toMatch(/\tall\t/);
    expect(await update('--header', 'X-Other: 1')).toMatchObject({ types: [], headerNames: ['X-Other'] });
    expect(await update('--without-headers')).toMatchObject({ headerNames: [] });
    for (const [args, sentence] of [
      [['--type', 'a', '--all-types'], /cannot be used with/],
      [['--header', 'a: b', '--without-headers'], /cannot be used with/],
      [['--type', 'order*'], /It must be a type such as order\.paid/],
      [['--header', 'no colon'], /'Name: value'/],
      [['--header', ': value'], /'Name: value'/],
    ] as const) {
      const refused = await cli.run(['endpoints', 'update', id, ...args]);
      expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) as string });
    }
    const forbidden = await cli.run(['endpoints', 'update', id, '--header', 'Host: example.com']);
    expect(forbidden).toMatchObject({ code: 1, stderr: expect.stringContaining('must not contain host') as string });
    await cli.json('endpoints', 'delete', id, '--yes');
  });

  it('serves operators', async () => {
    const other = await api.signUp();
    const accounts = ['admin', 'accounts'] as const;
    expect(await cli.json(...accounts, 'update', other.id, '--plan', 'pro')).toMatchObject({
      limits: { perMinute: 300 },
    });
    expect(await cli.json(...accounts, 'suspend', other.id)).toMatchObject({ suspended: true });
    expect((await cli.run([...accounts, 'get', other.id])).stdout).toContain('State\tsuspended');
    expect(await cli.json(...accounts, 'list', '--suspended', '--limit', '1')).toMatchObject([{ suspended: true }]);
    expect(await cli.json(...accounts, 'resume', other.id)).toMatchObject({ suspended: false });
    expect((await cli.run([...accounts, 'keys', 'list', other.id])).stdout).toContain(other.keyId);
    expect(await cli.run([...accounts, 'keys', 'revoke', other.id, other.keyId, '--yes'])).toMatchObject({ code: 0 });
    expect(await api.knows(other)).toBe(false);
    const back = (await cli.run([...accounts, 'keys', 'create', other.id, 'way back'])).stdout.trim();
    expect(await api.knows(back)).toBe(true);
    expect(await cli.json('admin', 'bans', 'list', '--account', other.id)).toEqual([]);
    expect(await cli.run(['admin', 'bans', 'lift', other.keyId])).toMatchObject({ code: 1 });
    expect(await cli.run([...accounts, 'list', '--limit', '1'])).toMatchObject({ code: 0 });
  });

  it('creates, finds, renames and deletes accounts', async () => {
    const accounts = ['admin', 'accounts'] as const;
    const made = await cli.run([...accounts, 'create', 'Blue Whale', '--plan', 'pro', '--external-id', 'whale-1']);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^slc_\w+\n$/) as string });
    const key = made.stdout.trim();
    const id = /acct_\w+/.exec(made.stderr)?.[0] ?? '';
    expect((await api.ask(key)).body).toMatchObject({ id, name: 'Blue Whale', plan: 'pro' });
    expect(await cli.json(...accounts, 'create', 'Other', '--json')).toMatchObject({ apiKey: { name: 'first key' } });
    const taken = await cli.run([...accounts, 'create', 'Blue', '--external-id', 'whale-1', '--json']);
    expect(JSON.parse(taken.stderr)).toMatchObject({ error: { code: 'external_id_taken' } });
    for (const filter of [
      ['--name', 'blue wh'],
      ['--external-id', 'whale-1'],
    ]) {
      expect(await cli.json(...accounts, 'list', ...filter)).toMatchObject([{ id }]);
    }
    expect(await cli.json(...accounts, 'list', '--name', 'nobody')).toEqual([]);
    expect(await cli.json(...accounts, 'rename', id, 'Grey Whale')).toMatchObject({ name: 'Grey Whale' });
    expect((await cli.run([...accounts, 'get', id])).stdout).toMatch(/Name\tGrey Whale\nExternal id\twhale-1\n/);
    const link = [...accounts, 'portal-link', id, '--scope', 'messages:read', 'messages:send', '--expires-in', '60'];
    expect(await cli.run(link)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/#link=slp_\w{40}\n$/) as string,
    });
    expect(await cli.json(...link)).toMatchObject({ scopes: ['messages:read', 'messages:send'] });
    expect(await cli.json(...accounts, 'update', id, '--no-external-id')).toMatchObject({ externalId: null });
    expect((await cli.run([...accounts, 'delete', id])).code).toBe(2);
    expect(await api.knows(key)).toBe(true);
    expect(await cli.json(...accounts, 'delete', id, '--yes')).toMatchObject({ id });
    expect(await api.knows(key)).toBe(false);
    expect((await cli.run([...accounts, 'get', id])).code).toBe(1);
  });

  it('lets operators define plans, and see what they changed', async () => {
    const update = ['admin', 'accounts', 'update', account.id];
    const plan = ['admin', 'plans'];
    const limits = { perMinute: 600, perDay: 50_000 };
    const created = await cli.json(...plan, 'put', 'cli-plan', '--per-minute', '600', '--per-day', '50000');
    expect(created).toMatchObject({ name: 'cli-plan', limits, maxStoredBytes: null, maxEndpoints: null });
    expect(
      await cli.json(...plan, 'put', 'cli-plan', '--max-endpoints', '0', '--max-stored-bytes', '1000000'),
    ).toMatchObject({ limits, maxStoredBytes: 1_000_000, maxEndpoints: 0 });
    expect(
      await cli.json(...plan, 'put', 'cli-plan', '--per-minute', '700', '--max-stored-bytes', 'default'),
    ).toMatchObject({ limits: { ...limits, perMinute: 700 }, maxStoredBytes: null, maxEndpoints: 0 });
    expect(await cli.json(...plan, 'put', 'cli-plan', '--individual')).toMatchObject({ limits: null, maxEndpoints: 0 });
    expect(await cli.json(...plan, 'get', 'cli-plan')).toMatchObject({ limits: null });
    expect((await cli.run([...plan, 'list'])).stdout).toContain('cli-plan\tagreed with each account\tdefault\t0\t0\n');
    expect(await cli.json(...update, '--plan', 'cli-plan')).toMatchObject({ plan: 'cli-plan' });
    expect(await cli.run([...plan, 'delete', 'cli-plan', '--yes'])).toMatchObject({ code: 1 });
    await cli.json(...update, '--plan', 'enterprise', '--per-minute', '100000', '--per-day', '100000');
    expect(await cli.json(...plan, 'delete', 'cli-plan', '--yes')).toEqual({ name: 'cli-plan', deleted: true });
    const audited = (await cli.json('admin', 'audit', '--limit', '2')) as unknown as { action: string }[];
    expect(audited.map(({ action }) => action)).toEqual(['plan.deleted', 'account.changed']);
    expect((await cli.run(['admin', 'audit', '--account', account.id])).stdout).toContain(
      '\toperator\taccount.changed\t',
    );
  });

  it.each(['-', '--help', '0', 'z'.repeat(40)])(
    'takes every name of a plan, and the greatest limits: %s',
    async (name) => {
      const options = ['--per-minute', '1000000000', '--per-day', '1000000000', '--max-endpoints', '100'];
      const stored = ['--max-stored-bytes', String(Number.MAX_SAFE_INTEGER)];
      const limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
      const plan = { name, limits, maxStoredBytes: Number.MAX_SAFE_INTEGER, maxEndpoints: 100 };
      // A name may look like an option.
      const run = async (...args: string[]) =>
        JSON.parse((await cli.run(['admin', 'plans', ...args, '--json', '--', name])).stdout) as object;
      expect(await run('put', ...options, ...stored)).toMatchObject(plan);
      expect(await run('get')).toMatchObject(plan);
      expect(await run('delete', '--yes')).toEqual({ name, deleted: true });
    },
  );

  it('overwrites no plan that another operator has changed after it was read', async () => {
    const path = '/admin/plans/cli-race';
    const terms = (perMinute: number) => ({ limits: { perMinute, perDay: 50 } });
    await api.ask(OPERATOR, `PUT ${path}`, terms(5));
    // Passes everything on. Right before a change, another operator is quicker.
    const proxy = createServer((request, response) => {
      void (async () => {
        const { method = '', url = '', headers } = request;
        const body = await text(request);
        if (method === 'PUT') await api.ask(OPERATOR, `PUT ${path}`, terms(7));
        const { authorization, 'if-match': tag, 'content-type': type } = headers;
        const sent = { authorization, 'if-match': tag, 'content-type': type };
        const {
          status,
          bytes,
          headers: got,
        } = await api.call({ method, path: url, headers: sent, ...(body !== '' && { body }) });
        response.writeHead(status, { 'content-type': got['content-type'] ?? '' }).end(bytes);
      })();
    });
    const env = { SLUICE_BASE_URL: await listen(proxy) };
    try {
      const failed = await cli.run(['admin', 'plans', 'put', 'cli-race', '--per-minute', '6'], { env });
      expect(failed).toMatchObject({ code: 1, stdout: '' });
      expect(failed.stderr).toContain('Somebody else has changed the plan');
      expect((await api.ask(OPERATOR, `GET ${path}`)).body).toMatchObject(terms(7));
    } finally {
      proxy.close();
    }
  });

  it('states errors without a stack trace, and exits with a code for each kind', async () => {
    const { key } = await api.createKey(account, { scopes: ['messages:send'] });
    const away = { SLUICE_BASE_URL: 'http://127.0.0.1:65533', SLUICE_API_KEY: key };
    const [scope, usage, unknown, unreachable, invalid, noKey] = await Promise.all([
      cli.run(['list', '--json'], { env: { SLUICE_API_KEY: key } }),
      cli.run(['list', '--limit', 'many']),
      cli.run(['lsit']),
      cli.run(['keys', 'revoke', 'key_x', '--yes'], { env: away }),
      cli.run(['send', 'x', '--type', 'sluice.x']),
      cli.run(['list'], { env: { SLUICE_API_KEY: 'a b' } }),
    ]);
    expect(scope).toMatchObject({ code: 3, stdout: '' });
    expect(JSON.parse(scope.stderr)).toMatchObject({ error: { code: 'insufficient_scope', status: 403 } });
    expect(usage).toMatchObject({ code: 2, stderr: expect.stringContaining('whole number from 1') as string });
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean list?') as string });
    expect(unreachable).toMatchObject({ code: 5, stdout: '' });
    expect(invalid).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: [^\n]* reserved[^\n]*\n$/) as string,
    });
    expect(noKey).toMatchObject({ code: 3, stderr: expect.stringContaining('SLUICE_API_KEY is not a key') as string });
    for (const { stderr } of [scope, usage, unknown, unreachable]) expect(stderr).not.toMatch(/^ +at /m);
  });

  it('completes commands, and explains them with examples', async () => {
    const script = `
      sluice() { "${process.execPath}" "${CLI_SCRIPT}" "$@"; }
      source <(sluice completion bash); source <(sluice completion bash)
      COMP_WORDS=(sluice keys '$(touch typed)' ro); COMP_CWORD=3; _sluice
      COMP_WORDS=(sluice keys ro); COMP_CWORD=2; _sluice; echo "\${COMPREPLY[@]}"`;
    const completed = spawnSync('bash', ['-c', script], { env: cli.env, cwd: cli.home, encoding: 'utf8' });
    expect(completed).toMatchObject({ stdout: 'rotate\n', stderr: '' });
    expect(existsSync(join(cli.home, 'typed'))).toBe(false);
    for (const shell of ['zsh', 'fish']) expect((await cli.run(['completion', shell])).stdout).toContain('sluice');
    expect((await cli.run(['complete', '--', 'keys', 'ro'])).stdout).toMatch(/^rotate\t/);
    expect((await cli.run(['complete', '--', 'list', '--status', 'f'])).stdout).toMatch(/^failed/);
    expect((await cli.run(['send', '--help'])).stdout).toMatch(/Examples:\n {2}\$ sluice send/);
    expect(await cli.run([])).toMatchObject({ code: 0, stderr: '' });
  });
});
