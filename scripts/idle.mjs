/**
 * `npm run idle`: starts PostgreSQL, an API and a worker, lets them rest, and prints the statements that they execute
 * while nothing happens, by connection and statement, with connections and the write-ahead log. `--seconds 60` is the time
 * measured; `--clients` also keeps an event stream open and a lease waiting.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { prepare } from '../apps/dev/prepare.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    // Until what a start leaves to do is done, and pauses have grown.
    settle: { type: 'string', default: '30' },
    clients: { type: 'boolean', default: false },
  },
});
await prepare();
const { EmbeddedPostgres } = await import('../dist/apps/dev/embedded-postgres/embedded-postgres.js');
const { freePort } = await import('../dist/apps/dev/port.js');
const folder = await mkdtemp(join(tmpdir(), 'sluice-idle-'));
// Started by root, PostgreSQL runs as another user.
await chmod(folder, 0o755);
const log = join(folder, 'postgres', 'statements.log');
const postgres = await EmbeddedPostgres.start({
  dataDir: join(folder, 'postgres'),
  database: 'sluice',
  settings: {
    ...{ logging_collector: 'on', log_directory: '.', log_filename: 'statements.log', log_rotation_size: '0' },
    ...{ log_line_prefix: '|%a|', log_statement: 'all' },
  },
});
const programs = [];
const clients = new AbortController();
try {
  const [port, ...others] = [await freePort(), await freePort(), await freePort()];
  await Promise.all(['api', 'worker'].map((name, index) => open(name, port, others[index])));
  if (values.clients) await openClients(`http://127.0.0.1:${port}`);
  console.log(`Waiting for ${values.settle} s, then measuring for ${values.seconds} s.`);
  await sleep(Number(values.settle) * 1_000);
  const client = new pg.Client(postgres.url);
  await client.connect();
  const before = await read(client);
  await sleep(Number(values.seconds) * 1_000);
  const after = await read(client);
  await client.end();
  report(before, after);
} finally {
  clients.abort();
  for (const program of programs) program.kill('SIGTERM');
  await Promise.all(programs.map((program) => program.exitCode ?? once(program, 'exit')));
  await postgres.stop();
  await rm(folder, { recursive: true });
}

/** Resolves when it is ready. */
async function open(name, port, managementPort) {
  const program = spawn(process.execPath, [`dist/apps/${name}/main.js`], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      ...{ DATABASE_URL: postgres.url, HOST: '127.0.0.1', PORT: String(port), MANAGEMENT_PORT: String(managementPort) },
      ...{ SIGNUP: 'open', API_KEY_PEPPER: 'of a measurement on one machine only', LOG_LEVEL: 'warn' },
    },
  });
  programs.push(program);
  const [message] = await Promise.race([once(program, 'message'), once(program, 'exit')]);
  if (message !== 'ready') throw new Error(`The ${name} did not start.`);
}

/** An event stream that is open, and leases that wait one after another. */
async function openClients(url) {
  const json = { 'content-type': 'application/json' };
  const signup = await fetch(`${url}/accounts`, { method: 'POST', headers: json, body: '{"name":"idle"}' });
  const { apiKey } = await signup.json();
  const headers = { ...json, authorization: `Bearer ${apiKey.key}` };
  await fetch(`${url}/account`, { method: 'PATCH', headers, body: '{"delivery":"pull"}' });
  const { signal } = clients;
  const stream = await fetch(`${url}/events`, { headers, signal });
  stream.body.pipeTo(new WritableStream()).catch(() => undefined);
  void (async () => {
    while (!signal.aborted)
      await fetch(`${url}/messages/lease`, { method: 'POST', headers, signal, body: '{"wait":20}' }).catch(
        () => undefined,
      );
  })();
}

async function read(client) {
  const { rows } = await client.query(
    `SELECT pg_current_wal_insert_lsn() - '0/0' AS wal,
            (SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'sluice%') AS connections`,
  );
  return { log: await readFile(log, 'utf8'), ...rows[0] };
}

function report(before, after) {
  const seconds = Number(values.seconds);
  const text = after.log.slice(before.log.length);
  const counts = new Map();
  for (const [, source, statement] of text.matchAll(/^\|(sluice[^|]*)\|LOG: +(?:statement|execute [^:]*): ([^|]*)/gm)) {
    const what = `${source.padEnd(22)} ${statement.replace(/\s+/g, ' ').trim().slice(0, 90)}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const lines = [...counts].sort(([, one], [, other]) => other - one);
  const total = lines.reduce((sum, [, count]) => sum + count, 0);
  for (const [what, count] of lines) console.log(`${(count / seconds).toFixed(2).padStart(7)}/s  ${what}`);
  console.log(`Statements a second: ${(total / seconds).toFixed(2)}`);
  console.log(`Connections: ${after.connections}`);
  console.log(`WAL, bytes a second: ${((after.wal - before.wal) / seconds).toFixed(0)}`);
}
