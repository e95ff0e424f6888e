import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { EmbeddedPostgres } from '../../dist/apps/dev/embedded-postgres/embedded-postgres.js';
import { createLogger } from '#platform/observability/logging.js';
import { readSettings } from '../../dist/apps/settings.js';
import { startApi } from '../../dist/apps/api/api.js';
import { migrateSchema } from '../../dist/apps/schema.js';

const ADMIN_KEY = 'operators-key-of-32-characters-or-more';

/** An API with its own PostgreSQL, the keys of two accounts without effective limits, and the admin key. */
export async function startServer() {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-fuzz-'));
  const postgres = await EmbeddedPostgres.start({
    ...{ dataDir: join(folder, 'postgres'), database: 'sluice', settings: { fsync: 'off' } },
  });
  await migrateSchema(postgres.url);
  const settings = readSettings({
    ...{ DATABASE_URL: postgres.url, HOST: '127.0.0.1', PORT: '0', MANAGEMENT_PORT: '0' },
    ...{ API_KEY_PEPPER: 'a pepper of 32 characters or more', ADMIN_API_KEY: ADMIN_KEY },
    // Without it, there are no endpoints.
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    ...{ SIGNUP: 'open', SIGNUPS_PER_HOUR: '1000000', ANONYMOUS_PER_MINUTE: '1000000' },
  });
  const api = await startApi(settings, createLogger('error', 'api'));
  const [apiKey, anotherKey] = [await signUp(api.url), await signUp(api.url)];
  await liftLimits(postgres.url);
  return {
    url: api.url,
    apiKey,
    anotherKey,
    adminKey: ADMIN_KEY,
    stop: async () => {
      await api.stop();
      await postgres.stop();
      await rm(folder, { recursive: true });
    },
  };
}

async function signUp(url) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/accounts`, { method: 'POST', headers, body: '{"name":"fuzz"}' });
  return (await response.json()).apiKey.key;
}

async function liftLimits(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('UPDATE sluice.accounts SET per_minute = 100000000, per_day = 100000000');
  await client.end();
}
