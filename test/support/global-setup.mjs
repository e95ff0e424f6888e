/**
 * One PostgreSQL for the whole run, and for each Jest worker a process that runs APIs (see api-host.mjs), with one that
 * the worker's tests share. Not TypeScript: Jest loads this file by Node itself, which finds the built sources.
 */
import 'reflect-metadata';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { EmbeddedPostgres } from '../../dist/apps/dev/embedded-postgres/embedded-postgres.js';
import { isAlive } from '../../dist/apps/dev/embedded-postgres/postmaster.js';
import { migrateSchema } from '../../dist/apps/schema.js';

/** The settings of all APIs of tests, but for their database: a test only meets limits that it sets. */
const SETTINGS = {
  DATABASE_POOL_SIZE: '5',
  HOST: '127.0.0.1',
  PORT: '0',
  MANAGEMENT_PORT: '0',
  LOG_LEVEL: 'silent',
  API_KEY_PEPPER: 'a pepper of 32 characters or more',
  SECRETS_KEY: 'MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=',
  ADMIN_API_KEY: 'operators-key-of-32-characters-or-more',
  SIGNUP: 'open',
  SIGNUPS_PER_HOUR: '1000000',
  ANONYMOUS_PER_MINUTE: '1000000',
  // Tests keep a machine busy: what would be overload elsewhere is only slow there.
  MAX_WAIT_MS: '60000',
};

export default async function setUp({ maxWorkers }) {
  await removeAbandoned();
  const folder = await mkdtemp(join(tmpdir(), `sluice-test-${process.pid}-`));
  await chmod(folder, 0o755);
  process.env.TEST_FOLDER = folder;
  process.env.TEST_PORTS = JSON.stringify(await reservePorts());
  const hosts = Array.from({ length: maxWorkers }, () => fork(join(import.meta.dirname, 'api-host.mjs')));
  const addresses = Promise.all(hosts.map(async (host) => (await once(host, 'message'))[0]));
  const postgres = await EmbeddedPostgres.start({
    dataDir: join(folder, 'postgres'),
    database: 'sluice_template',
    // Nothing of this cluster outlives the run.
    settings: {
      ...{ fsync: 'off', full_page_writes: 'off', max_connections: '300' },
      // Guarantees must not rest on the defaults of a server.
      ...{ default_transaction_isolation: 'repeatable read', synchronous_commit: 'off' },
    },
  });
  globalThis.stopTestProcesses = async () => {
    for (const host of hosts) host.kill('SIGKILL');
    await postgres.stop();
    await rm(folder, { recursive: true });
  };
  await migrateSchema(postgres.url);
  process.env.TEST_TEMPLATE_URL = postgres.url;
  const shared = [];
  for (const [index, host] of (await addresses).entries()) {
    shared.push({ host, ...(await startSharedApi(host, postgres.url, `shared_${index + 1}`)) });
  }
  process.env.TEST_APIS = JSON.stringify(shared);
  process.env.TEST_OPENAPI = join(folder, 'openapi.json');
  await writeFile(process.env.TEST_OPENAPI, await body(fetch(`${shared[0].url}/openapi.json`)));
}

async function startSharedApi(host, templateUrl, database) {
  const client = new pg.Client({ connectionString: templateUrl.replace(/[^/]+$/, 'postgres') });
  await client.connect();
  await client.query(`CREATE DATABASE ${database} TEMPLATE sluice_template`);
  await client.end();
  const environment = { ...SETTINGS, DATABASE_URL: templateUrl.replace(/[^/]+$/, database) };
  const started = await body(fetch(host, { method: 'POST', body: JSON.stringify(environment) }));
  return { ...JSON.parse(started), environment };
}

async function body(responding) {
  const response = await responding;
  const text = await response.text();
  if (!response.ok) throw new Error(`The shared API of the tests responded ${response.status}: ${text}`);
  return text;
}

/**
 * @returns the first and the last of some ports for this run alone, outside the range from which the system assigns
 *   ports. The one before them stays open until the run ends.
 */
async function reservePorts() {
  const count = 2_000;
  for (let port = 10_000; port < 32_000; port += count) {
    try {
      await once(createServer().listen(port, '127.0.0.1').unref(), 'listening');
      return [port + 1, port + count - 1];
    } catch {
      // Another run has them.
    }
  }
  throw new Error('Too many runs of the tests at once.');
}

/** A run that was killed has left its folder; its processes have ended with it. */
async function removeAbandoned() {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^sluice-test-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}
