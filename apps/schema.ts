import { runMigrations } from 'bullmq';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { ListeningClient, STARTING_TIMEOUT_MS } from '#platform/database/database.js';
import { asUnavailable } from '#platform/database/faults.js';
import { Accounts1763700000000 } from '#accounts/adapters/postgres/migrations/1763700000000-accounts.js';
import { RateLimits1763700002000 } from '#rate-limiting/adapters/postgres/migrations/1763700002000-rate-limits.js';
import { Messages1763700001000 } from '#messages/adapters/postgres/migrations/1763700001000-messages.js';
import { Attempts1763700012000 } from '#messages/adapters/postgres/migrations/1763700012000-attempts.js';
import { Backlogs1763700013000 } from '#messages/adapters/postgres/migrations/1763700013000-backlogs.js';
import { Batches1763700010000 } from '#messages/adapters/postgres/migrations/1763700010000-batches.js';
import { Delays1763700011000 } from '#messages/adapters/postgres/migrations/1763700011000-delays.js';
import { Storage1763700014000 } from '#messages/adapters/postgres/migrations/1763700014000-storage.js';
import { Partitions1763700015000 } from '#messages/adapters/postgres/migrations/1763700015000-partitions.js';
import { Traces1763700003000 } from '#messages/adapters/postgres/migrations/1763700003000-traces.js';

const MIGRATIONS = [
  Accounts1763700000000,
  Messages1763700001000,
  RateLimits1763700002000,
  Traces1763700003000,
  Batches1763700010000,
  Delays1763700011000,
  Attempts1763700012000,
  Backlogs1763700013000,
  Storage1763700014000,
  Partitions1763700015000,
];

/** Any number that nobody else locks: "sluice" in ASCII. */
const LOCK = 0x736c75696365;
/** Milliseconds. */
const LONG_WAIT = 1_000;

/**
 * Brings the schema of a database up to date: ours, then BullMQ's. Processes that start together do so one by one.
 * @param waits is told once when another process has been at it for a while
 * @throws DomainError `unavailable` when the database can't be reached
 */
export async function migrateSchema(url: string, waits?: () => void): Promise<void> {
  const client = new ListeningClient({ connectionString: url, connectionTimeoutMillis: STARTING_TIMEOUT_MS });
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    schema: 'sluice',
    migrations: MIGRATIONS,
    migrationsTableName: 'migrations',
    installExtensions: false,
    poolSize: 1,
  });
  try {
    await client.connect();
    await lock(client, waits);
    await client.query('CREATE SCHEMA IF NOT EXISTS sluice');
    await dataSource.initialize();
    await dataSource.runMigrations({ transaction: 'each' });
    await runMigrations(client);
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
    await client.end();
  }
}

async function lock(client: pg.Client, waits: () => void = () => undefined): Promise<void> {
  const timer = setTimeout(waits, LONG_WAIT);
  await client.query('SELECT pg_advisory_lock($1)', [LOCK]).finally(() => {
    clearTimeout(timer);
  });
}
