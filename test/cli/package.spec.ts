import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { accountOf, sharedApi } from '../support/api.js';
import { installTarball } from '../support/packages.js';
import { ROOT } from '../support/processes.js';

describe('The package sluice-cli, installed from its tarball in an empty folder,', () => {
  const api = sharedApi();
  const account = accountOf(api);
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-cli-package-'));
    await installTarball('cli', folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const sluice = async (...args: string[]) => {
    const { PATH = '' } = process.env;
    const env = { PATH, HOME: folder, SLUICE_BASE_URL: api.url, SLUICE_API_KEY: account.key };
    return (await promisify(execFile)(join(folder, 'node_modules/.bin/sluice'), args, { cwd: folder, env })).stdout;
  };

  it('sends and lists messages, and knows its version', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect((await sluice('--version')).trim()).toBe(version);
    const id = (await sluice('send', 'Order 4711 is paid')).trim();
    expect(await sluice('list')).toContain(`${id}\tqueued\t`);
    expect(await sluice('completion', 'bash')).toContain('complete -o default -F _sluice sluice');
  });

  it('has all commands but those that need the database', async () => {
    const help = await sluice('--help');
    const commands = [...help.matchAll(/^ {2}([a-z]+)\b.* {2,}/gm)].map(([, name]) => name);
    expect(commands).toEqual(expect.arrayContaining(['send', 'consume', 'endpoints', 'admin', 'verify']));
    expect(commands).not.toEqual(expect.arrayContaining([expect.stringMatching(/census|migrate/)]));
  });

  it('has all commands that its README names', async () => {
    const readme = await readFile(join(folder, 'node_modules/sluice-cli/README.md'), 'utf8');
    const named = [...readme.matchAll(/^\| (`.*?) +\|/gm)].flatMap(([, names = '']) => [...names.matchAll(/`(\w+)`/g)]);
    expect(named.length).toBeGreaterThan(20);
    for (const [, name = ''] of named) expect(await sluice(name, '--help')).toContain(`Usage: sluice ${name}`);
  });

  it('serves assistants', async () => {
    const initialize = {
      ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    };
    const answered = execFile(join(folder, 'node_modules/.bin/sluice'), ['mcp'], {
      env: { PATH: process.env.PATH, HOME: folder, SLUICE_BASE_URL: api.url, SLUICE_API_KEY: account.key },
    });
    answered.stdin?.write(`${JSON.stringify(initialize)}\n`);
    const [answer] = (await once(answered.stdout ?? answered, 'data')) as [string];
    answered.stdin?.end();
    expect(JSON.parse(answer)).toMatchObject({ id: 1, result: { serverInfo: { name: 'sluice' } } });
  });

  it('brings along all that it needs, with the licences of others', async () => {
    const installed = join(folder, 'node_modules/sluice-cli');
    expect((await readdir(join(folder, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual([
      'sluice-cli',
    ]);
    const files = ['LICENSE', 'README.md', 'THIRD-PARTY-LICENSES', 'chunks', 'package.json', 'sluice.js'];
    expect((await readdir(installed)).sort()).toEqual(files);
    const licenses = await readFile(join(installed, 'THIRD-PARTY-LICENSES'), 'utf8');
    for (const name of ['commander', 'undici', '@clack/prompts']) {
      expect(licenses).toMatch(new RegExp(`^${name} \\d.*\\(MIT\\)\n\n.*\\S`, 'm'));
    }
  });
});
