import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { withTimeout } from '#kernel/timeout.js';
import { UsageError } from '../process/usage-error.js';
import { CONNECTION_LIMITS, connectionOptions, ReliableClient, STARTING_TIMEOUT_MS } from './connection.js';
import { asUnavailable, sqlState } from './errors.js';
import { UnusableSession } from './session.js';

const SERVER = `
  SELECT current_setting('sluice.options', true) AS options, current_setting('server_encoding') AS encoding,
         current_setting('server_version_num') AS version`;
const MIN_VERSION = 140_000;
const RETRY_EVERY_MS = 250;

/** Milliseconds that a notification may take. */
const NOTIFICATION_TIMEOUT_MS = 3_000;

/**
 * Checks that the database can store any text and run functions, and that no proxy runs each transaction on another
 * connection or drops the options of a connection. A commit might then not wait for the disk, and workers would never be
 * notified of jobs, without any error. Waits for a database that is starting or in recovery, for up to STARTING_TIMEOUT_MS.
 * @throws UsageError when it cannot or there is such a proxy, DomainError `unavailable` when it cannot be reached
 */
export async function requireUsableDatabase(url: string): Promise<void> {
  const giveUpAt = performance.now() + STARTING_TIMEOUT_MS;
  for (;;) {
    try {
      await requireUsable(url);
      return;
    } catch (error) {
      if (!maySoonBeUsable(error) || performance.now() > giveUpAt) throw asUnavailable(error);
      await sleep(RETRY_EVERY_MS);
    }
  }
}

/** Of a server that starts, or is becoming the primary, or has no connection left for now. */
function maySoonBeUsable(error: unknown): boolean {
  return error instanceof UnusableSession ? error.mayChange : ['57P03', '53300'].includes(sqlState(error));
}

async function requireUsable(url: string): Promise<void> {
  const config = {
    ...CONNECTION_LIMITS,
    connectionString: url,
    connectionTimeoutMillis: STARTING_TIMEOUT_MS,
    options: connectionOptions(false, '-c sluice.options=passed'),
  };
  const open = (): pg.Client => new ReliableClient(config);
  const [listener, speaker] = [open(), open()];
  try {
    await Promise.all([listener, speaker].map((client) => client.connect().catch(explain)));
    const { rows } = await listener.query<{ options: string | null; encoding: string; version: string }>(SERVER);
    const [server] = rows;
    if (server?.options !== 'passed') throw isProxied('options');
    if (server.encoding !== 'UTF8') throw isNotUtf8(server.encoding);
    if (Number(server.version) < MIN_VERSION) throw new UsageError('DATABASE_URL must lead to PostgreSQL 14 or newer.');
    // Its library is loaded by each session anew.
    await speaker.query('DO $$ BEGIN END $$');
    if (!(await receives(listener, speaker))) throw isProxied('LISTEN');
  } finally {
    // Not awaited: over a half-open link it never ends.
    for (const client of [listener, speaker]) void client.end();
  }
}

function isNotUtf8(encoding: string): UsageError {
  return new UsageError(
    `The database at DATABASE_URL has the encoding ${encoding}, which cannot store every message: create one with ENCODING 'UTF8'.`,
  );
}

/** Whether one connection receives a notification of another. */
async function receives(listener: pg.Client, speaker: pg.Client): Promise<boolean> {
  const channel = `sluice_${randomBytes(8).toString('hex')}`;
  const received = new Promise<boolean>((resolve) => {
    listener.on('notification', (message) => {
      if (message.channel === channel) resolve(true);
    });
  });
  await listener.query(`LISTEN ${channel}`);
  await speaker.query(`NOTIFY ${channel}`);
  return withTimeout(received, NOTIFICATION_TIMEOUT_MS, () => false);
}

// PgBouncer rejects options that it does not know, unless it is configured to ignore them.
function explain(error: Error): never {
  throw /startup parameter/i.test(error.message) ? isProxied('options') : error;
}

function isProxied(what: 'options' | 'LISTEN'): UsageError {
  const lost = what === 'options' ? 'does not pass on the options of a connection' : 'pools transactions';
  return new UsageError(
    `DATABASE_URL leads to a proxy that ${lost}, as PgBouncer does: connect to PostgreSQL directly.`,
  );
}
