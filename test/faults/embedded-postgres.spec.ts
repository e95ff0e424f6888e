import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../../apps/dev/embedded-postgres/embedded-postgres.js';
import { isAlive, killAll, Program, until } from '../support/processes.js';

const settings = { fsync: 'off' };

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

describe('the PostgreSQL brought along', () => {
  let folder: string;
  let dataDir: string;
  const programs: Program[] = [];

  // As the README has it done with a clone: nobody but its owner, often root, may enter the folder.
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-fault-'));
    chmodSync(folder, 0o700);
    dataDir = join(folder, 'postgres');
    const postgres = await EmbeddedPostgres.start({ dataDir, database: 'sluice', settings });
    await query(postgres.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
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

  const answer = (url: string) => query(url, 'SELECT answer FROM kept');

  function hold(): Program {
    const program = Program.run('test/support/postgres-process.mjs', { DATA_DIR: dataDir });
    programs.push(program);
    return program;
  }

  async function serving(program: Program): Promise<{ url: string; pid: number }> {
    await program.printed(/serving .*\n/);
    const [, url = '', pid = ''] = /serving (\S+) (\d+)/.exec(program.output) ?? [];
    return { url, pid: Number(pid) };
  }

  it('keeps its data, listens on 127.0.0.1 only, sorts by code point and hides its password', async () => {
    const postgres = await EmbeddedPostgres.start({ dataDir, database: 'sluice', settings });
    expect(await answer(postgres.url)).toEqual([[42]]);
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

  it('killed: says so, and starts again with all its data', async () => {
    const postgres = await EmbeddedPostgres.start({ dataDir, database: 'sluice', settings });
    process.kill(postgres.pid, 'SIGKILL');
    await postgres.exited;
    const again = await EmbeddedPostgres.start({ dataDir, database: 'sluice', settings, port: postgres.port });
    expect(again.url).toBe(postgres.url);
    expect(await answer(again.url)).toEqual([[42]]);
    await again.stop();
  });

  it('ends with the process that started it, even if that is killed', async () => {
    const holder = hold();
    const { pid } = await serving(holder);
    holder.signal('SIGKILL');
    await until(() => !isAlive(pid), 5_000);
  });

  it('is refused to a second process, also after a crash of a backend has cut all connections', async () => {
    const { url } = await serving(hold());
    const second = hold();
    expect(await second.ended()).toBe(1);
    expect(second.output).toMatch(/UsageError .* is in use by another running sluice/);
    const backends = await query(url, `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'`);
    killAll([backends.flat().map(Number)[0] ?? 0]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await hold().ended()).toBe(1);
    expect(await answer(url)).toEqual([[42]]);
  });

  it('left behind by a killed process and its keeper: is stopped, and a new one takes over the data', async () => {
    const holder = hold();
    const { pid } = await serving(holder);
    const helpers = holder.family().filter((member) => member !== holder.pid && commandOf(member).includes('/bin/sh'));
    expect(helpers).toHaveLength(2);
    // Stopped first, so that none of them sees another die and does what it is there for.
    for (const member of [...helpers, holder.pid]) process.kill(member, 'SIGSTOP');
    killAll([...helpers, holder.pid]);
    expect(isAlive(pid)).toBe(true);
    const postgres = await EmbeddedPostgres.start({ dataDir, database: 'sluice', settings });
    expect(isAlive(pid)).toBe(false);
    expect(await answer(postgres.url)).toEqual([[42]]);
    await postgres.stop();
  });

  it('is not kept from starting by the pid file of a dead server whose number has been given away', async () => {
    writeFileSync(join(dataDir, 'postmaster.pid'), `${process.pid}\n${dataDir}\n1\n5432\n\n127.0.0.1\n`);
    const postgres = await EmbeddedPostgres.start({ dataDir, database: 'sluice', settings });
    expect(await answer(postgres.url)).toEqual([[42]]);
    await postgres.stop();
  });

  it('tells in one sentence why it does not start', async () => {
    const impossible = { dataDir, database: 'sluice', settings: { shared_buffers: '1kB' } };
    await expect(EmbeddedPostgres.start(impossible)).rejects.toThrow(/^PostgreSQL did not start: .*shared_buffers.*$/);
    await expect(EmbeddedPostgres.start({ ...impossible, dataDir: __dirname })).rejects.toThrow(
      /contains other files than PostgreSQL's data/,
    );
  });
});

function commandOf(pid: number): string {
  return execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)]).toString();
}
