import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../../apps/dev/embedded-postgres/embedded-postgres.js';
import { UsageError } from '#platform/process/usage-error.js';
import { freePort, isAlive, killAll, Program, until } from '../support/processes.js';

async function query(url: string, sql: string): Promise<unknown[][]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

describe('The embedded PostgreSQL', () => {
  let folder: string;
  let dataDir: string;
  const programs: Program[] = [];

  const start = (options = {}) =>
    EmbeddedPostgres.start({ dataDir, database: 'sluice', settings: { fsync: 'off' }, ...options });

  // Like a clone of root's, the folder may be accessible to its owner only.
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-fault-'));
    chmodSync(folder, 0o700);
    dataDir = join(folder, 'postgres');
    const postgres = await start();
    await query(postgres.url, 'CREATE TABLE kept AS SELECT 42 AS value');
    await postgres.stop();
  });

  afterEach(async () => {
    for (const program of programs.splice(0)) {
      program.signal('SIGTERM');
      await program.ended();
    }
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  const expectData = async (url: string) => {
    expect(await query(url, 'SELECT value FROM kept')).toEqual([[42]]);
  };

  function hold(): Program {
    const program = Program.run('test/support/postgres-process.mjs', { DATA_DIR: dataDir });
    programs.push(program);
    return program;
  }

  async function serving() {
    const holder = hold();
    await holder.printed(/serving .*\n/);
    const [, url = '', pid = ''] = /serving (\S+) (\d+)/.exec(holder.output) ?? [];
    return { holder, url, pid: Number(pid) };
  }

  it('preserves its data, listens on 127.0.0.1 only, sorts by code point and hides its password', async () => {
    const postgres = await start();
    await expectData(postgres.url);
    expect(await query(postgres.url, 'SHOW listen_addresses')).toEqual([['127.0.0.1']]);
    expect(await query(postgres.url, 'SHOW unix_socket_directories')).toEqual([['']]);
    expect(await query(postgres.url, `SELECT x FROM unnest('{b,ä,a,B}'::text[]) x ORDER BY x`)).toEqual([
      ...[['B'], ['a'], ['b'], ['ä']],
    ]);
    await expect(query(postgres.url.replace(/:[0-9a-f]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow(/password/);
    expect(statSync(join(dataDir, 'sluice.password')).mode & 0o777).toBe(0o600);
    await postgres.stop();
    expect(isAlive(postgres.pid)).toBe(false);
  });

  it('reports when it is killed, and restarts with all its data', async () => {
    const postgres = await start({ port: await freePort() });
    process.kill(postgres.pid, 'SIGKILL');
    await postgres.exited;
    const again = await start({ port: postgres.port });
    expect(again.url).toBe(postgres.url);
    await expectData(again.url);
    await again.stop();
  });

  it('exits with the process that started it, even if that is killed', async () => {
    const { holder, pid } = await serving();
    holder.signal('SIGKILL');
    await until(() => !isAlive(pid));
  });

  it('is refused to a second process, even after the crash of a backend has closed all connections', async () => {
    const { url } = await serving();
    const second = hold();
    expect(await second.ended()).toBe(1);
    expect(second.output).toMatch(/UsageError .* is in use by another running sluice/);
    const owner = () => query(url, `SELECT pid FROM pg_locks WHERE locktype = 'advisory'`).catch(() => []);
    const [first] = (await owner()).flat();
    killAll([Number(first)]);
    await until(async () => ![undefined, first].includes((await owner()).flat()[0]));
    expect(await hold().ended()).toBe(1);
    await expectData(url);
  });

  it('is stopped when a killed process and its helpers left it behind, and the data is used again', async () => {
    const { holder, pid } = await serving();
    const commandOf = (member: number) => execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(member)]).toString();
    const helpers = holder.family().filter((member) => member !== holder.pid && commandOf(member).includes('/bin/sh'));
    expect(helpers).toHaveLength(2);
    // Stopped first: each of them stops PostgreSQL when another dies.
    for (const member of [...helpers, holder.pid]) process.kill(member, 'SIGSTOP');
    killAll([...helpers, holder.pid]);
    expect(isAlive(pid)).toBe(true);
    const postgres = await start();
    expect(isAlive(pid)).toBe(false);
    await expectData(postgres.url);
    await postgres.stop();
  });

  it('starts despite the pid file of a dead server whose process id another process has', async () => {
    writeFileSync(join(dataDir, 'postmaster.pid'), `${process.pid}\n${dataDir}\n1\n5432\n\n127.0.0.1\n`);
    const postgres = await start();
    await expectData(postgres.url);
    await postgres.stop();
  });

  it('reports in one sentence why it does not start', async () => {
    const tooSmall = { settings: { shared_buffers: '1kB' } };
    await expect(start(tooSmall)).rejects.toThrow(/^PostgreSQL did not start: .*shared_buffers.*$/);
    await expect(start({ dataDir: __dirname })).rejects.toThrow(/is not a PostgreSQL data directory and not empty/);
  });

  it.each([
    ['options that it does not know', 'PGOPTIONS', '-c foo=bar', 'unrecognized configuration parameter "foo"'],
    ['options that it does not allow', 'PGOPTIONS', '-c fsync=off', 'parameter "fsync" cannot be changed now'],
  ])('reports in one sentence that it refuses connections with %s, and ends', async (_what, name, value, reason) => {
    process.env[name] = value;
    const starting = start().finally(() => Reflect.deleteProperty(process.env, name));
    await expect(starting).rejects.toThrow(
      new UsageError(`PostgreSQL in ${dataDir} refuses the connection: ${reason}.`),
    );
    await expectStopped();
  });

  it('reports in one sentence that its password is not that of the data, and ends', async () => {
    const file = join(dataDir, 'sluice.password');
    const password = readFileSync(file, 'utf8');
    writeFileSync(file, 'another');
    await expect(start()).rejects.toThrow(
      /^PostgreSQL in .* refuses the connection: password authentication failed .*$/,
    );
    writeFileSync(file, password);
    await expectStopped();
  });

  it('can be stopped before it accepts connections', async () => {
    const unreachable = { settings: { listen_addresses: '127.0.0.2' } };
    await expect(start({ ...unreachable, stopping: AbortSignal.timeout(500) })).rejects.toThrow(/timeout/);
    await expectStopped();
  });

  const expectStopped = async () => {
    expect(existsSync(join(dataDir, 'postmaster.pid'))).toBe(false);
    const postgres = await start();
    await expectData(postgres.url);
    await postgres.stop();
  };
});
