import { accountOf, sharedApi } from '../support/api.js';
import { Cli } from '../support/cli.js';
import { inProcessCli } from '../support/in-process-cli.js';

describe('The command line', () => {
  const api = sharedApi();
  const account = accountOf(api);
  const cli = inProcessCli(() => ({ SLUICE_BASE_URL: api.url, SLUICE_API_KEY: account.key }));
  const run = (env: Readonly<Record<string, string>>, args: readonly string[], isTerminal = false) =>
    cli.run(args, { env, isTerminal });

  describe('whoami', () => {
    it('shows the account, the key, what it may do, and until when', async () => {
      const { stdout, code } = await cli.run(['whoami']);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(
          new RegExp(
            `^Account\tTest \\(${account.id}\\)\nPlan\t.*\nDelivery\thandler\nService\t${api.url}\n` +
              'Key\t.+ \\(key_\\w+\\), from SLUICE_API_KEY\nScopes\tmessages:send .*account:manage\nExpires\tnever\n$',
          ),
        ) as string,
      });
    });

    it('shows a key that may not see its account', async () => {
      const expiresAt = '2099-01-01T00:00:00.000Z';
      const { key } = await api.createKey(account, { scopes: ['messages:send'], expiresAt });
      const { stdout } = await run({ SLUICE_API_KEY: key }, ['whoami']);
      expect(stdout).toMatch(/^Service\t.*\nKey\t.*\nScopes\tmessages:send\nExpires\t2099-01-01T00:00:00Z\n$/);
      const json = JSON.parse((await run({ SLUICE_API_KEY: key }, ['whoami', '--json'])).stdout) as object;
      expect(json).toMatchObject({ account: null, apiKey: { scopes: ['messages:send'], expiresAt } });
    });
  });

  it.each([
    ['the portal', ['open'], '/'],
    ['a message', ['open', 'msg_x'], '/#/messages/msg_x'],
  ])('open prints the URL of %s where nobody sees a browser', async (_, args, path) => {
    const printed = { code: 0, stdout: `${api.url}${path}\n`, stderr: '' };
    expect(await run({ DISPLAY: ':0' }, args)).toEqual(printed);
    expect(await run({ DISPLAY: '', WAYLAND_DISPLAY: '' }, args, true)).toEqual(printed);
    expect(JSON.parse((await cli.run([...args, '--json'])).stdout)).toEqual({ url: `${api.url}${path}` });
  });

  describe('without a home directory', () => {
    let homeless: Cli;
    beforeAll(() => {
      // As for a user whom the system does not know, as in many containers, asking for this one is an error.
      const nowhere = { HOME: `/${'x'.repeat(5_000)}`, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' };
      homeless = new Cli({ SLUICE_BASE_URL: api.url, SLUICE_API_KEY: account.key, ...nowhere });
    });
    afterAll(() => {
      homeless.remove();
    });

    it.each([[['--version']], [['whoami']], [['logout']], [['send', '--file', 'lines.txt']]])(
      'runs %j',
      async (args) => {
        homeless.file('lines.txt', 'one\ntwo\n');
        expect(await homeless.run(args)).toMatchObject({ code: 0 });
      },
    );

    it('says that it cannot keep a key', async () => {
      expect(await homeless.run(['login'])).toEqual({
        code: 1,
        stdout: '',
        stderr:
          'error: You have no home directory to keep keys in: set HOME, or use SLUICE_API_KEY without sluice login.\n',
      });
    });
  });

  it('watches only in a terminal', async () => {
    expect(await cli.run(['list', '--watch'])).toMatchObject({ code: 2, stdout: '' });
    expect(await cli.run(['list', '--watch', '--json'], { isTerminal: true })).toMatchObject({ code: 2, stdout: '' });
  });

  it('suggests only what is near', async () => {
    expect((await cli.run(['sned', 'hello'])).stderr).toContain("unknown command 'sned'\n(Did you mean send?)\n");
    expect((await cli.run(['stat'])).stderr).not.toContain('Did you mean');
    expect((await cli.run(['list', '--statsu', 'failed'])).stderr).toContain('(Did you mean --status?)');
    expect((await cli.run(['list', '--states', 'failed', '--json'])).stderr).toContain('(Did you mean --status?)');
  });
});
