import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { UsageError } from '../usage-error.js';
import { ASYNCHRONOUS_COMMIT, ReliableClient, STARTING_TIMEOUT_MS } from './connection.js';
import { asUnavailable } from './errors.js';

/** Milliseconds that a notification may take. */
const PATIENCE_MS = 3_000;

/**
 * Makes sure that what one connection sets and listens to is its own: a proxy in front of PostgreSQL may hand each
 * transaction to another connection, and may drop what is asked for when one is opened. Counts would then be slow,
 * and workers would never hear of jobs, without any error.
 * @throws UsageError when it is so, DomainError `unavailable` when the database can't be reached
 */
export async function requireDirectConnection(url: string): Promise<void> {
  const config = {
    connectionString: url,
    connectionTimeoutMillis: STARTING_TIMEOUT_MS,
    options: ASYNCHRONOUS_COMMIT,
  };
  const open = (): pg.Client => new ReliableClient(config);
  const [listener, speaker] = [open(), open()];
  try {
    await Promise.all([listener, speaker].map((client) => client.connect().catch(explain)));
    const { rows } = await listener.query<{ synchronous_commit: string }>('SHOW synchronous_commit');
    if (rows[0]?.synchronous_commit !== 'off') throw isProxied('options');
    if (!(await hears(listener, speaker))) throw isProxied('LISTEN');
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    await Promise.all([listener.end(), speaker.end()]);
  }
}

/** Whether one connection hears what another says. */
async function hears(listener: pg.Client, speaker: pg.Client): Promise<boolean> {
  const channel = `sluice_${randomBytes(8).toString('hex')}`;
  const waiting = new AbortController();
  const heard = new Promise<boolean>((resolve) => {
    listener.on('notification', (message) => {
      if (message.channel === channel) resolve(true);
    });
  });
  await listener.query(`LISTEN ${channel}`);
  await speaker.query(`NOTIFY ${channel}`);
  const late = sleep(PATIENCE_MS, false, { signal: waiting.signal }).catch(() => false);
  return Promise.race([heard, late]).finally(() => {
    waiting.abort();
  });
}

// PgBouncer refuses options that it doesn't know, unless it is told to ignore them.
function explain(error: Error): never {
  throw /startup parameter/i.test(error.message) ? isProxied('options') : error;
}

function isProxied(what: 'options' | 'LISTEN'): UsageError {
  const lost = what === 'options' ? 'does not pass on the options of a connection' : 'pools transactions';
  return new UsageError(
    `DATABASE_URL leads to a proxy that ${lost}, as PgBouncer does: connect to PostgreSQL directly.`,
  );
}
