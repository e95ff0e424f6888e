import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { callUndocumented } from '../../support/http.js';
import { freePort, Program, until } from '../../support/processes.js';

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

  /** What someone gets who starts Sluice, tries it and stops it. */
  async function visit(settings: Record<string, string>) {
    const program = start(settings);
    await program.printed('Ctrl-C');
    const management = program.output.match(/http:\S+(?=\/health\/ready)/g) ?? [];
    for (const url of management) {
      await until(async () => (await callUndocumented(url, { path: '/health/ready' })).status === 200);
    }
    const [, url = ''] = /ready: (\S+)/.exec(program.output) ?? [];
    const [, key = ''] = /Bearer (\S+)'/.exec(program.output) ?? [];
    const [, file = ''] = /API key: +(\S+)/.exec(program.output) ?? [];
    expect((await readFile(file, 'utf8')).trim()).toBe(key);
    const account = await callUndocumented(url, { path: '/account', headers: { authorization: `Bearer ${key}` } });
    expect(account.status).toBe(200);
    const headers = { 'content-type': 'application/json' };
    const signUp = await callUndocumented(url, { method: 'POST', path: '/accounts', headers, body: '{"name":"x"}' });
    program.signal('SIGTERM');
    expect(await program.ended()).toBe(0);
    expect(program.output.includes('run as root')).toBe(process.getuid?.() === 0);
    const advice = program.output.includes('SIGNUP=open');
    const access = { key, file: basename(file), id: account.body.id, signUp: signUp.status, advice };
    return { access, ports: [url, ...management].map((address) => Number(new URL(address).port)) };
  }

  it('keeps the account and the key of each database, and gives each process a free port of its own', async () => {
    const first = await visit({ WORKER: 'off' });
    expect(first.access).toMatchObject({
      file: expect.stringMatching(/^dev-key-\w{8}$/) as string,
      signUp: 403,
      advice: true,
    });

    const embedded = await visit({ DATABASE_URL: '', API_KEY_PEPPER: '', WORKER: 'off' });
    expect(embedded.access).toMatchObject({ file: 'dev-key', signUp: 201, advice: false });

    const taken = await occupy(9464);
    const port = await freePort();
    const again = await visit({ MANAGEMENT_PORT: '', PORT: String(port) }).finally(() => taken.close());
    expect(again.access).toEqual(first.access);
    expect(again.ports[0]).toBe(port);
    expect(new Set([...again.ports, 9464]).size).toBe(4);
  });

  it('brings a database along that variables of libpq have no effect on', async () => {
    const ofAnother = {
      ...{ PGHOST: 'nowhere.invalid', PGPORT: '1', PGUSER: 'nobody', PGPASSWORD: 'wrong', PGDATABASE: 'nothing' },
      ...{ PGOPTIONS: '-c foo=bar', PGSSLMODE: 'verify-full', PGSSLROOTCERT: '/nowhere', PGSSLNEGOTIATION: 'direct' },
      ...{ PGCLIENTENCODING: 'LATIN1', PGTARGETSESSIONATTRS: 'standby', PGCONNECT_TIMEOUT: '1' },
    };
    const program = start({ DATABASE_URL: '', API_KEY_PEPPER: '', ...ofAnother });
    await program.printed('Ctrl-C');
    const env = { ...process.env, DATABASE_URL: '', DATA_DIR: folder, ...ofAnother };
    const census = spawnSync(process.execPath, ['dist/apps/cli/main.js', 'census'], { encoding: 'utf8', env });
    expect(census).toMatchObject({ status: 0, stderr: '' });
    expect(await program.end()).toBe(0);
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

  it('does not start when there is no space for the data of PostgreSQL, and says so', () => {
    const { status, stderr } = spawnSync('sh', ['-c', 'ulimit -f 100; exec node dist/apps/dev/main.js'], {
      encoding: 'utf8',
      env: { ...process.env, DATABASE_URL: '', DATA_DIR: join(folder, 'full'), PORT: '0' },
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^PostgreSQL's data directory could not be created: could not write to file "pg_wal\/[^"]+": File too large\.$/m,
    );
  });
});
