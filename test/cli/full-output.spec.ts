import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { accountOf, sharedApi } from '../support/api.js';
import { Cli, CLI_SCRIPT } from '../support/cli.js';
import { describeUnless } from '../support/skipping.js';

const COMMANDS = [
  ...['--help', '--version', 'help send', 'completion bash', 'completion zsh', 'whoami', 'list', 'usage', 'keys list'],
  ...['usage --by hour --csv', 'send hello', 'open', 'delivery', 'logout', 'cancel --all', 'pause', 'resume'],
];

describe('Output that nobody can read', () => {
  const api = sharedApi();
  const account = accountOf(api);
  let cli: Cli;
  beforeAll(async () => {
    cli = new Cli({ SLUICE_BASE_URL: api.url, SLUICE_API_KEY: account.key });
    await api.sent(account);
  });
  afterAll(() => {
    cli.remove();
  });

  const shell = async (script: string) => {
    const line = `sluice() { "$NODE" "$SLUICE" "$@"; }; ${script}`;
    const child = spawn('sh', ['-c', line], { env: { ...cli.env, NODE: process.execPath, SLUICE: CLI_SCRIPT } });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await ended, stdout, stderr };
  };

  describeUnless(existsSync('/dev/full') ? null : 'There is no /dev/full.')('because the disk is full', () => {
    const SENTENCE =
      'Standard output cannot be written: no space is left on the device. The command itself may have succeeded.';

    it.each(COMMANDS)('is a failure in a sentence: %s', async (command) => {
      const [plain, json] = await Promise.all([
        shell(`sluice ${command} > /dev/full`),
        command.includes('csv') ? null : shell(`sluice ${command} --json > /dev/full`),
      ]);
      expect(plain).toMatchObject({ code: 1, stderr: expect.stringContaining(`error: ${SENTENCE}\n`) as string });
      if (json === null) return;
      const lines = json.stderr.trim().split('\n');
      expect(json.code).toBe(1);
      // Help and the like are no results.
      if (lines.at(-1)?.startsWith('{')) {
        expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ error: { message: SENTENCE } });
      } else expect(json.stderr).toContain(SENTENCE);
    });

    it('does not keep a command from ending as it would otherwise, if it is that of errors', async () => {
      expect(await shell('sluice nonsense 2> /dev/full')).toMatchObject({ code: 2 });
      expect(await shell('sluice nonsense > /dev/full 2> /dev/full')).toMatchObject({ code: 2 });
      expect(await shell('sluice whoami > /dev/full 2> /dev/full')).toMatchObject({ code: 1 });
      expect(await shell('sluice whoami 2> /dev/full')).toMatchObject({ code: 0 });
    });
  });

  it.each(COMMANDS)('because its reader has gone is no failure: %s', async (command) => {
    for (const options of command.includes('csv') ? [''] : ['', '--json']) {
      const { stdout, stderr } = await shell(`{ sluice ${command} ${options} ; echo $? >&3; } 3>&2 | true`);
      expect({ stdout, stderr }).toEqual({ stdout: '', stderr: '0\n' });
    }
  });
});
