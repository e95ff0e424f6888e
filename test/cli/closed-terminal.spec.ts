import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { accountOf, sharedApi } from '../support/api.js';
import { Cli, CLI_SCRIPT } from '../support/cli.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';

const hasScript = String(spawnSync('script', ['--version']).stdout).includes('util-linux');

describeUnless(hasScript ? null : 'There is no `script` of util-linux: terminals are not closed.')(
  'When its terminal is closed',
  () => {
    const api = sharedApi();
    const account = accountOf(api);
    let cli: Cli;
    let database: TestDatabase;
    beforeAll(async () => {
      cli = new Cli({ SLUICE_BASE_URL: api.url, SLUICE_API_KEY: account.key });
      database = await createTestDatabase();
    });
    afterAll(async () => {
      cli.remove();
      await database.drop();
    });

    const process_ = (name: string) => `"${process.execPath}" dist/apps/${name}/main.js`;
    const command = (words: string) => `"${process.execPath}" "${CLI_SCRIPT}" ${words}`;
    it.each([
      ['sluice tail', command('tail'), 'Waiting for changes', []],
      ['the API', process_('api'), '"listening"', ['"stopping"']],
      ['a worker', process_('worker'), '"consuming"', ['"stopping"']],
    ])('%s ends without a stack trace', async (name, line, ready, said) => {
      const [output, ended] = ['output', 'ended'].map((file) => `${cli.home}/${file} ${name}`);
      // Only the shell gets the signal. It passes it on, as it would with several jobs, and its first `wait` ends.
      const start = `${line} <&0 >"${output}" 2>&1 & program=$!`;
      const shell = `${start}; trap 'kill -HUP $program' HUP; wait; wait $program; echo $? >"${ended}"`;
      const environment = {
        ...{ PATH: process.env.PATH, DATABASE_URL: database.url, API_KEY_PEPPER: 'p'.repeat(32), PORT: '0' },
        ...{ MANAGEMENT_PORT: '0', SHELL: '/bin/bash' },
      };
      const env = { ...cli.env, ...environment };
      const terminal = spawn('script', ['-qec', shell, '/dev/null'], { env, stdio: ['pipe', 'ignore', 'ignore'] });
      await until(() => existsSync(output ?? '') && readFileSync(output ?? '', 'utf8').includes(ready));
      terminal.kill('SIGKILL');
      await until(() => existsSync(ended ?? '') && readFileSync(ended ?? '', 'utf8') !== '');
      // 128 and SIGHUP.
      expect(readFileSync(ended ?? '', 'utf8')).toBe('129\n');
      const printed = readFileSync(output ?? '', 'utf8');
      expect(printed).not.toMatch(/assertion|stack trace/i);
      for (const text of said) expect(printed).toContain(text);
    });
  },
);
