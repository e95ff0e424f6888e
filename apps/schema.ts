import { readFile } from 'node:fs/promises';
import { runMigrations } from 'bullmq';
import type pg from 'pg';
import { connectionOptions, ReliableClient, STARTING_TIMEOUT_MS } from '#platform/database/connection.js';
import { asUnavailable } from '#platform/database/errors.js';
import { UsageError } from '#platform/process/usage-error.js';

/** SQL files of the contexts, in the order in which they run. */
const MIGRATIONS = [
  'accounts/0001-baseline',
  'rate-limiting/0001-baseline',
  'messages/0001-baseline',
  'delivery/0001-baseline',
  'webhooks/0001-baseline',
  'events/0001-baseline',
  'upkeep/0001-baseline',
] as const;

/** The key of the advisory lock: "sluice" in ASCII. */
const LOCK = 0x736c75696365;
const LONG_WAIT_MS = 1_000;
const KEEP_ALIVE_MS = 10_000;

/**
 * Migrates the schema of a database: BullMQ's, then ours, which adds indexes to it. Processes that start together
 * migrate one at a time.
 * @param onWait called once when another process has been migrating for a second
 * @throws DomainError `unavailable` when the database can't be reached
 * @throws UsageError when the database has tables of a version before the first release
 */
export async function migrateSchema(url: string, onWait?: () => void): Promise<void> {
  const client = new ReliableClient({
    connectionString: url,
    connectionTimeoutMillis: STARTING_TIMEOUT_MS,
    options: connectionOptions(false),
    // A migration may take long, so only the system notices a half-open link.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
  try {
    await client.connect();
    await lock(client, onWait);
    const applied = await appliedMigrations(client);
    await runMigrations(client);
    for (const name of MIGRATIONS.filter((name) => !applied.has(name))) await apply(client, name);
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    await client.end();
  }
}

async function lock(client: pg.Client, onWait: () => void = () => undefined): Promise<void> {
  const timer = setTimeout(onWait, LONG_WAIT_MS);
  await client.query('SELECT pg_advisory_lock($1)', [LOCK]).finally(() => {
    clearTimeout(timer);
  });
}

/** @throws UsageError before anything of another schema is changed */
async function appliedMigrations(client: pg.Client): Promise<Set<string>> {
  await client.query(`
    CREATE SCHEMA IF NOT EXISTS sluice;
    CREATE TABLE IF NOT EXISTS sluice.migrations (
      name text PRIMARY KEY,
      applied_at timestamptz NOT NULL DEFAULT now()
    );
    -- What all processes on this database must have in common.
    CREATE TABLE IF NOT EXISTS sluice.installation (
      name text PRIMARY KEY,
      value text NOT NULL
    )`);
  const { rows } = await client.query<{ name: string }>('SELECT name FROM sluice.migrations');
  const applied = new Set(rows.map(({ name }) => name));
  if (applied.size > 0 && !applied.has(MIGRATIONS[0])) {
    throw new UsageError(
      'The database was created by a version of Sluice before the first release. Remove it and start again: the folder ' +
        'DATA_DIR (.data) of npm start, or the schemas sluice and bullmq of DATABASE_URL.',
    );
  }
  return applied;
}

async function apply(client: pg.Client, name: string): Promise<void> {
  const [context = '', file = ''] = name.split('/');
  const path = `../libs/${context}/adapters/postgres/migrations/${file}.sql`;
  const sql = await readFile(new URL(path, import.meta.url), 'utf8');
  // Several statements in one query run in one transaction.
  await client.query(`${sql}; INSERT INTO sluice.migrations (name) VALUES ('${name}')`);
}
