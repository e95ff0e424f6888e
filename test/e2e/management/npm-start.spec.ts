import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { nextFreePort } from '../../../apps/dev/port.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { callUndocumented } from '../../support/http.js';
import { Program } from '../../support/processes.js';

jest.setTimeout(60_000);

/** Occupies a port, unless another program does already. */
async function occupy(port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.once('error', () => {
      resolve();
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}

describe('npm start', () => {
  let database: TestDatabase;
  let folder: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'sluice-start-'));
    await chmod(folder, 0o755);
  });

  afterAll(async () => {
    await database.drop();
    await rm(folder, { recursive: true });
  });

  function start(settings: Record<string, string>): Program {
    return Program.run('dist/apps/dev/main.js', {
      ...{ DATABASE_URL: database.url, API_KEY_PEPPER: 'p'.repeat(32), DATA_DIR: folder, HOST: '127.0.0.1', PORT: '0' },
      ...settings,
    });
  }

  /** Starts with these settings; expects every management port to be ready. @returns their URLs */
  async function managementUrls(settings: Record<string, string>): Promise<string[]> {
    const program = start({ MANAGEMENT_PORT: '', ...settings });
    let urls: string[];
    try {
      await program.printed('Ctrl-C');
      urls = program.output.match(/http:\S+(?=\/health\/ready)/g) ?? [];
      for (const url of urls) expect((await callUndocumented(url, { path: '/health/ready' })).status).toBe(200);
    } finally {
      program.signal('SIGTERM');
    }
    expect(await program.ended()).toBe(0);
    return urls;
  }

  it('gives each process a management port, others than usual when those are taken', async () => {
    const taken = await Promise.all([9464, 9465].map(occupy));
    const urls = await managementUrls({}).finally(() => taken.map((server) => server.close()));
    expect(urls).toHaveLength(2);
    expect(new Set([...urls, 'http://127.0.0.1:9464', 'http://127.0.0.1:9465']).size).toBe(4);
  });

  it.each([
    ['the first', 0],
    ['the second', 1],
  ])('leaves the API its port where it would be %s management port', async (_which, offset) => {
    // Both are free: the usual ones, unless another program uses them.
    const first = await nextFreePort(9464, '127.0.0.1', 0);
    const port = offset === 0 ? first : await nextFreePort(first + 1, '127.0.0.1', 0);
    const urls = await managementUrls({ PORT: String(port) });
    expect(new Set([...urls, `http://127.0.0.1:${port}`]).size).toBe(3);
  });

  it('keeps the account and the key of each database; without its own, sign-up is closed', async () => {
    const visit = async (settings: Record<string, string> = {}) => {
      const program = start({ MANAGEMENT_PORT: '0', ...settings });
      await program.printed('Ctrl-C');
      const [, url = ''] = /ready: (\S+)/.exec(program.output) ?? [];
      const [, key = ''] = /Bearer (\S+)'/.exec(program.output) ?? [];
      const [, file = ''] = /API key: +(\S+)/.exec(program.output) ?? [];
      expect((await readFile(file, 'utf8')).trim()).toBe(key);
      const account = await callUndocumented(url, { path: '/account', headers: { authorization: `Bearer ${key}` } });
      expect(account.status).toBe(200);
      const headers = { 'content-type': 'application/json' };
      const signUp = await callUndocumented(url, { method: 'POST', path: '/accounts', headers, body: '{"name":"x"}' });
      program.signal('SIGTERM');
      await program.ended();
      expect(program.output.includes('run as root')).toBe(process.getuid?.() === 0);
      const advice = program.output.includes('SIGNUP=open');
      return { key, file: basename(file), id: account.body.id, signUp: signUp.status, advice };
    };
    const own = { DATABASE_URL: '', API_KEY_PEPPER: '' };
    const [embedded, other] = [await visit(own), await visit()];
    expect(embedded).toMatchObject({ file: 'dev-key', signUp: 201, advice: false });
    expect(other).toMatchObject({
      file: expect.stringMatching(/^dev-key-\w{8}$/) as string,
      signUp: 403,
      advice: true,
    });
    expect([await visit(own), await visit()]).toEqual([embedded, other]);
  });

  it('does not start when the port of the settings is taken, and names the setting', async () => {
    const taken = await occupy(0);
    const { port } = taken.address() as AddressInfo;
    const program = start({ MANAGEMENT_PORT: String(port) });
    expect(await program.ended()).toBe(1);
    expect(program.output).toContain(
      `Port ${port} is in use: stop what uses it or set MANAGEMENT_PORT to another one.`,
    );
    taken.close();
  });
});
