import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { accountOf, sharedApi } from '../support/api.js';
import { Cli, CLI_SCRIPT } from '../support/cli.js';
import { metricsOf } from '../support/metrics.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;

describeUnless(hasTmux ? null : 'tmux is not installed: the command line is not tested in a terminal.')(
  'The command line in a terminal',
  () => {
    const api = sharedApi();
    const account = accountOf(api);
    let cli: Cli;
    const tmux = (...args: string[]) => {
      const server = ['-S', `${cli.home}/tmux`, '-f', '/dev/null'];
      return execFileSync('tmux', [...server, ...args], { env: { ...cli.env, TERM: 'xterm-256color' } }).toString();
    };
    const type = (text: string) => {
      tmux('send-keys', '-l', text);
      tmux('send-keys', 'Enter');
    };
    const screen = () => tmux('capture-pane', '-p', '-e');
    const shows = (text: string | RegExp) => until(() => screen().match(text) !== null, 120_000, screen);

    beforeAll(() => {
      cli = new Cli({ SLUICE_BASE_URL: api.url, PS1: '> ', HISTFILE: '' });
      tmux('new-session', '-d', '-x', '100', '-y', '40', 'bash --noprofile --norc');
      type(`sluice() { "${process.execPath}" "${CLI_SCRIPT}" "$@"; }; clear`);
    });
    afterAll(() => {
      tmux('kill-server');
      cli.remove();
    });

    it('asks for the key without showing it, sends with a remark, tails in colour, and shows bars', async () => {
      type('sluice login');
      await shows('API key for');
      type(account.key);
      await shows(/Logged in to .* as Test\./);
      expect(screen()).not.toContain(account.key.slice(4, 12));

      type('clear; sluice tail &');
      await shows('Waiting for changes.');
      type('sluice send hello');
      await shows('Queued');
      await shows(/\[33mqueued/);
      type('fg');
      await shows('sluice tail');
      await until(async () => {
        // The shell prints its name before it gets the keyboard.
        tmux('send-keys', 'C-c');
        return (await metricsOf(api.managementUrl)).get('sluice_event_streams') === 0;
      });

      const opener = cli.file('xdg-open', `#!/bin/sh\necho "$1" > '${cli.home}/opened'\n`);
      chmodSync(opener, 0o755);
      type(`clear; PATH="${cli.home}:$PATH" DISPLAY=:0 sluice open msg_x`);
      await shows(`${api.url}/#/messages/msg_x`);
      if (process.platform === 'linux')
        await until(() =>
          spawnSync('cat', [`${cli.home}/opened`])
            .stdout.toString()
            .endsWith('#/messages/msg_x\n'),
        );

      type('clear; sluice list --watch');
      await shows(/ID +STATUS +AGE/);
      const { id } = await api.sent(account, { body: { message: 'while it is watched' } });
      await shows(/queued.* while it is watched/);
      await api.ask(account, `POST /messages/${id}/cancel`);
      await shows(/cancelled.* while it is watched/);
      tmux('send-keys', 'C-c');

      type('clear; sluice usage; sluice keys revoke key_unknown');
      await shows(/Minute.*░░░.* of 100,000,000/);
      await shows('Revoke key_unknown?');
      tmux('send-keys', 'C-c');
      await shows('Cancelled.');
      type('echo "exit code $?"');
      await shows('exit code 130');
    });
  },
);
