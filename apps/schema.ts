import { readFile } from 'node:fs/promises';
import { assertSchemaCompatibility, runMigrations, SchemaVersionMismatchError } from 'bullmq';
import type pg from 'pg';
import { connectionOptions, ReliableClient, STARTING_TIMEOUT_MS } from '#platform/database/connection.js';
import { asUnavailable, isUnavailable, sqlState } from '#platform/database/errors.js';
import { UsageError } from '#platform/process/usage-error.js';
import { FORGET_PARTS, RECORD_PARTS, requireParts, requireRights } from './schema-requirements.js';

/** SQL files of the contexts, in the order in which they run. */
const MIGRATIONS = [
  'accounts/0001-baseline',
  'rate-limiting/0001-baseline',
  'messages/0001-baseline',
  'delivery/0001-baseline',
  'webhooks/0001-baseline',
  'events/0001-baseline',
  'upkeep/0001-baseline',
  'messages/0002-type-metadata-ordering-key',
  'accounts/0002-pause',
  'messages/0003-announce-resumed-accounts',
  'messages/0004-lists-by-type',
  'accounts/0003-accounts-by-operators',
  'messages/0005-deleted-accounts',
  'messages/0006-order',
  'accounts/0004-plans',
  'rate-limiting/0002-plans',
  'messages/0007-skipped',
  'webhooks/0002-types-and-headers',
  'usage/0001-baseline',
  'webhooks/0003-operational-events',
  'accounts/0005-key-hints',
  'webhooks/0004-lists-of-deliveries',
  'webhooks/0005-changed-types',
  'webhooks/0006-count-attempts',
  'webhooks/0007-revisions',
  'upkeep/0002-bounds',
  'webhooks/0008-fields-of-events',
  'webhooks/0009-next-attempt-of-events',
  'webhooks/0010-failing-until',
  'upkeep/0003-key-of-the-reconciler',
  'usage/0002-key-of-the-progress',
] as const;

/** The version of the schema of the BullMQ that is installed; a test compares both. */
export const BULLMQ_SCHEMA = 11;

const HAS_SCHEMAS = `
  SELECT count(*) = 4 AS exists, bool_and(has_schema_privilege(n.oid, 'USAGE')) AS usable FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE (nspname, relname) IN (('sluice', 'migrations'), ('bullmq', 'migration'), ('bullmq', 'sluice_stalled_jobs'),
                               ('bullmq', 'sluice_running_jobs'))`;

/** Statements of delivery/0001-baseline, which run again for a schema of BullMQ that was lost and is made anew. */
const QUEUE_INDEX = /^CREATE INDEX (?=sluice_\w+ ON bullmq\b)[^;]+;/gm;

/** The key of the advisory lock: "sluice" in ASCII. */
const LOCK = 0x736c75696365;
const NO_LIMITS = '-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0';
const LONG_WAIT_MS = 1_000;
const KEEP_ALIVE_MS = 10_000;

/**
 * Migrates the schema of a database: BullMQ's, then ours, which adds indexes to it. Processes that start together
 * migrate one at a time.
 * @param onWait called once when another process has been migrating for a second
 * @throws DomainError `unavailable` when the database can't be reached
 * @throws UsageError when the database has tables of a version before the first release, or of something else
 */
export function migrateSchema(url: string, onWait?: () => void): Promise<void> {
  return withClient(url, async (client) => {
    await lock(client, onWait);
    // A role that can only read and write may not even create what is there already.
    if (!(await isMigrated(client))) await migrate(client);
    await requireRights(client);
    await requireParts(client);
  });
}

/** @throws UsageError when the database lacks tables of this version, DomainError `unavailable` when it can't be reached */
export function requireSchema(url: string): Promise<void> {
  return withClient(url, async (client) => {
    if (await isMigrated(client)) return requireParts(client);
    throw new UsageError(
      'The database at DATABASE_URL does not have the tables of this version: run sluice migrate, or start an API or a worker.',
    );
  });
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new ReliableClient({
    connectionString: url,
    connectionTimeoutMillis: STARTING_TIMEOUT_MS,
    // Regardless of the limits of the role.
    options: connectionOptions(false, NO_LIMITS),
    // A migration may take long, so only the system notices a half-open link.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
  try {
    await client.connect();
    await work(client);
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    await client.end();
  }
}

/** @param step what failed */
function explain(step: string, error: unknown): never {
  const { message } = error as Error;
  if (sqlState(error) !== '42501') {
    if (isUnavailable(error)) throw error;
    throw new UsageError(
      `The migration ${step} failed and changed nothing: ${message}. The schemas sluice and bullmq of DATABASE_URL must contain nothing else.`,
    );
  }
  throw new UsageError(
    `The migrations must run as the owner of the schemas, with CREATE on the database, and the user of DATABASE_URL is not it: ${message}. See "Rights" in docs/deploy.md.`,
  );
}

async function isMigrated(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean; usable: boolean }>(HAS_SCHEMAS);
  if (rows[0]?.exists !== true) return false;
  // Without USAGE, the schema cannot even be looked at.
  if (!rows[0].usable) await requireRights(client);
  const applied = await appliedMigrations(client).catch(async (error: unknown) => {
    await requireRights(client);
    throw error;
  });
  const bullmq = await assertSchemaCompatibility(client).catch((error: unknown) => {
    if (!(error instanceof SchemaVersionMismatchError)) throw error;
    throw new UsageError('The database at DATABASE_URL has the tables of a newer version: start that version.');
  });
  return bullmq >= BULLMQ_SCHEMA && MIGRATIONS.every((name) => applied.has(name));
}

async function appliedMigrations(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM sluice.migrations');
  return new Set(rows.map(({ name }) => name));
}

async function lock(client: pg.Client, onWait: () => void = () => undefined): Promise<void> {
  const timer = setTimeout(onWait, LONG_WAIT_MS);
  await client.query('SELECT pg_advisory_lock($1)', [LOCK]).finally(() => {
    clearTimeout(timer);
  });
}

async function migrate(client: pg.Client): Promise<void> {
  const lists = client.query(`
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
  await lists.catch((error: unknown) => explain('of the schema sluice', error));
  const applied = await appliedMigrations(client);
  if (applied.size > 0 && !applied.has(MIGRATIONS[0])) {
    throw new UsageError(
      'The database was created by a version of Sluice before the first release. Remove it and start again: the folder ' +
        'DATA_DIR (.data) of npm start, or the schemas sluice and bullmq of DATABASE_URL.',
    );
  }
  await client.query(FORGET_PARTS).catch((error: unknown) => explain('of the schema sluice', error));
  await runMigrations(client).catch((error: unknown) => explain('of BullMQ', error));
  for (const name of MIGRATIONS.filter((name) => !applied.has(name))) {
    const sql = await sqlOf(name);
    // Several statements in one query run in one transaction.
    await client
      .query(`${sql}; INSERT INTO sluice.migrations (name) VALUES ('${name}')`)
      .catch((error: unknown) => explain(name, error));
  }
  const indexes = (await sqlOf('delivery/0001-baseline')).match(QUEUE_INDEX) ?? [];
  const again = indexes.map((sql) => sql.replace('INDEX', 'INDEX IF NOT EXISTS')).join('');
  await client.query(again).catch((error: unknown) => explain('of the indexes of the queue', error));
  await client.query(RECORD_PARTS);
}

function sqlOf(name: (typeof MIGRATIONS)[number]): Promise<string> {
  const [context = '', file = ''] = name.split('/');
  return readFile(new URL(`../libs/${context}/adapters/postgres/migrations/${file}.sql`, import.meta.url), 'utf8');
}
