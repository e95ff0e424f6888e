import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { accountForEach, sharedApi } from '../support/api.js';
import { Cli } from '../support/cli.js';
import { InProcessCli } from '../support/in-process-cli.js';
import { describeUnless } from '../support/skipping.js';

describe('Files of the command line', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  let cli: Cli;
  beforeEach(() => {
    cli = new Cli({ SLUICE_BASE_URL: api.url });
  });
  afterEach(() => {
    cli.remove();
  });

  it.each(['', '.', 'folder'])('are not kept in the current folder: HOME=%s', async (home) => {
    const env = { HOME: home, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' };
    cli.file('lines.txt', 'one\n');
    const login = await cli.run(['login'], { env, input: account.key });
    expect(login).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^error: .+\n$/) as string });
    await cli.run(['send', '--batch', 'lines.txt'], { env: { ...env, SLUICE_API_KEY: account.key } });
    expect(readdirSync(cli.home)).toEqual(['lines.txt']);
    expect(await cli.run(['whoami'], { env: { ...env, SLUICE_API_KEY: account.key } })).toMatchObject({ code: 0 });
  });

  describeUnless(existsSync('/proc/self/fd') ? null : 'There is no /proc.')('in a home', () => {
    // In some, a new folder is an error; in others, there are none.
    it.each(['/proc', '/proc/self/fd', '/proc/1', '/dev/null', '/dev/null/x', '/proc/self/root/dev/null'])(
      '%s are missed in a sentence',
      async (home) => {
        const env = { HOME: home, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' };
        cli.file('lines.txt', 'one\n');
        const away = { ...env, SLUICE_API_KEY: account.key };
        const [login, batch, whoami] = await Promise.all([
          cli.run(['login'], { env, input: account.key }),
          cli.run(['send', '--batch', 'lines.txt'], { env: away }),
          cli.run(['whoami'], { env: away }),
        ]);
        for (const { code, stdout, stderr } of [login, batch]) {
          expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
          expect(stderr).toMatch(/^error: \S+ cannot be (read|written|created): [a-z ]+\.( Name .*)?\n$/);
          expect(stderr).toContain(`error: ${home}/.`);
        }
        expect(whoami.code).toBe(0);
      },
    );

    it('that takes no files do not keep it from listening', async () => {
      const env = { HOME: '/proc/self/fd', XDG_CONFIG_HOME: '', SLUICE_API_KEY: account.key };
      const listening = cli.start(['listen', '--forward-to', '127.0.0.1:9999', '--yes'], { env });
      await listening.printed('The secret to verify signatures: whsec_');
      expect(listening.stderr).toContain('! The next start will make another secret: ');
    });
  });

  it.each(['""', '" "', '"slc_é"', '"a\\u001b[31m"', '"a\\nb"', '1', 'null', '{}', '["slc_x"]'])(
    'are named if the key in them is %s',
    async (key) => {
      const cli = new InProcessCli({ SLUICE_BASE_URL: api.url });
      try {
        const credentials = join(cli.home, 'config', 'sluice', 'credentials.json');
        mkdirSync(dirname(credentials), { recursive: true });
        const entry = `{"apiKey":${key},"operatorKey":${key},"listenSecret":${key}}`;
        writeFileSync(credentials, `{"services":{"${api.url}":${entry}}}`, { mode: 0o600 });
        for (const args of [['whoami'], ['list', '--json'], ['admin', 'accounts', 'list'], ['mcp']]) {
          const { code, stdout, stderr } = await cli.run(args);
          expect({ code: code === 1 || code === 3, stdout }).toEqual({ code: true, stdout: '' });
          expect(stderr).toContain(credentials);
          expect(stderr).toContain('un sluice login');
        }
        const env = { SLUICE_API_KEY: account.key };
        const { code, stderr } = await cli.run(['listen', '--forward-to', '127.0.0.1:9999', '--yes'], { env });
        expect({ code: code === 1 || code === 2, stderr }).toEqual({
          code: true,
          stderr: expect.stringContaining(credentials) as string,
        });
      } finally {
        cli.remove();
      }
    },
  );

  it.each(['""', '" "', '"slc_é"'])('are right again after a login if the key in them was %s', async (key) => {
    mkdirSync(dirname(cli.credentials), { recursive: true });
    writeFileSync(cli.credentials, `{"services":{"${api.url}":{"apiKey":${key}}}}`, { mode: 0o600 });
    expect(await cli.run(['login'], { input: account.key })).toMatchObject({ code: 0 });
    expect(await cli.run(['whoami'])).toMatchObject({ code: 0 });
  });

  it('of other programs are no states of a batch, with --restart neither', async () => {
    const lines = cli.file('lines.txt', 'one\n');
    for (const options of [[], ['--restart']]) {
      const args = ['send', '--batch', 'lines.txt', '--state', lines, ...options];
      const { code, stderr } = await cli.run(args, { env: { SLUICE_API_KEY: account.key } });
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: `error: ${lines} is not the state of a batch: remove it, or name another file with --state.\n`,
      });
    }
    expect(readFileSync(lines, 'utf8')).toBe('one\n');
    expect(existsSync(join(cli.home, 'lines.txt.lock'))).toBe(false);
  });

  it.each([
    [['send', '--file', '/dev/zero'], ''],
    [['send'], Buffer.alloc(2 ** 26)],
    [['send', '-'], Buffer.alloc(2 ** 26, 'a')],
    [['send'], Buffer.concat([Buffer.alloc(262_143, 'a'), Buffer.from('é'.repeat(2 ** 20))])],
    [['send', '--batch', '--file', '/dev/zero'], ''],
    [['send', '--batch'], Buffer.alloc(2 ** 26, 'a')],
    [['login'], Buffer.alloc(2 ** 26)],
    [['login'], Buffer.alloc(2 ** 26, 'a')],
  ])('and inputs without an end are not kept: %j', async (args, input) => {
    const env = args[0] === 'login' ? {} : { SLUICE_API_KEY: account.key };
    const { code, stdout, stderr } = await cli.run(args, { input, env });
    expect({ failed: code === 1 || code === 2 || code === 3, stdout }).toEqual({ failed: true, stdout: '' });
    expect(stderr).toMatch(/at most 262,144 bytes|more than 262144 bytes|not a key|API key is unknown/);
  });
});
