/**
 * One PostgreSQL for the whole run. Not TypeScript: Jest loads this file by Node itself, which finds the built
 * sources, as they will run in earnest. `npm test` has built them.
 */
import 'reflect-metadata';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../dist/apps/dev/embedded-postgres/index.js';
import { createLogger } from '#platform/logging.js';
import { readSettings } from '#platform/settings.js';
import { startApi } from '../../dist/apps/api/api.js';
import { migrateSchema } from '../../dist/apps/schema.js';

const prefix = 'sluice-test-';

export default async function setUp() {
  await removeAbandoned();
  const folder = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
  await chmod(folder, 0o755);
  const postgres = await EmbeddedPostgres.start({
    dataDir: join(folder, 'postgres'),
    database: 'sluice_template',
    // Nothing of this cluster outlives the run.
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  globalThis.stopTestPostgres = async () => {
    await postgres.stop();
    await rm(folder, { recursive: true });
  };
  await migrateSchema(postgres.url);
  process.env.TEST_TEMPLATE_URL = postgres.url;
  process.env.TEST_OPENAPI = join(folder, 'openapi.json');
  await writeFile(process.env.TEST_OPENAPI, await openApiDocument(postgres.url));
}

/** What every answer is held to: the document of an API on which everything is switched on. */
async function openApiDocument(databaseUrl) {
  const secret = 'a secret for tests, long enough';
  const api = await startApi(
    readSettings({
      ...{ DATABASE_URL: databaseUrl, HOST: '127.0.0.1', PORT: '0', MANAGEMENT_PORT: '0' },
      ...{ API_KEY_PEPPER: secret.repeat(2), ADMIN_API_KEY: secret.repeat(2).replaceAll(/[ ,]/g, '-') },
    }),
    createLogger('error', 'api'),
  );
  try {
    const response = await fetch(`${api.url}/openapi.json`);
    if (!response.ok) throw new Error('There is no OpenAPI document; the log says why.');
    return await response.text();
  } finally {
    await api.stop();
  }
}

/** A run that was killed has left its folder, and its server has ended by itself. */
async function removeAbandoned() {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix) || isAlive(Number.parseInt(name.slice(prefix.length), 10))) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
