import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { accountOf, OPERATOR, sharedApi } from '../support/api.js';
import { Cli, CLI_SCRIPT } from '../support/cli.js';

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

    it('says which key it has taken if there are two', async () => {
      const other = await api.signUp();
      const { code, stdout, stderr } = await stranger.run(['login'], {
        env: { SLUICE_API_KEY: other.key },
        input: account.key,
      });
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringContaining('The key is from SLUICE_API_KEY. Standard input is not read.') as string,
      });
      expect(stdout).toContain('Logged in to');
      expect(await stranger.json('whoami')).toMatchObject({ account: { id: other.id } });
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

  it('ends quietly when nobody reads on', async () => {
    await api.sendBatch(account, { messages: Array.from({ length: 150 }, () => 'x'.repeat(1_000)) });
    const script = `"${process.execPath}" "${CLI_SCRIPT}" list --limit 150 | head -1 | cut -c1-4; echo "\${PIPESTATUS[0]}"`;
    const options = { env: cli.env, stdio: 'pipe' } as const;
    expect(execFileSync('bash', ['-c', `{ ${script}; } 2>&1`], options).toString()).toBe('msg_\n0\n');
    const refused = `"${process.execPath}" "${CLI_SCRIPT}" list 2>&1 | true; echo "\${PIPESTATUS[0]}"`;
    expect(execFileSync('bash', ['-c', refused], { ...options, env: stranger.env }).toString()).toBe('3\n');
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
