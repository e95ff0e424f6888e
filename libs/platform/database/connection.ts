import pg from 'pg';
import { ReliableClient } from './reliable-client.js';

export { ReliableClient } from './reliable-client.js';

/**
 * Nothing waits forever: not for a connection, a response or a lock. `query_timeout` is enforced by the client, for
 * half-open links over which the server cannot report its own timeout.
 */
export const CONNECTION_LIMITS = {
  connectionTimeoutMillis: 3_000,
  statement_timeout: 10_000,
  query_timeout: 12_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 20_000,
  keepAlive: true,
  // Each new connection costs statements: what is repeated every 30 seconds keeps its own.
  idleTimeoutMillis: 60_000,
  // The statements that a connection has prepared name days: it does not collect those of all days.
  maxLifetimeSeconds: 86_400,
} as const;

/**
 * Settings that affect how values are read and written or how statements are run. They override the defaults of the
 * server, the database and the role. A setting that only a superuser may change is checked by `requireUsableSession`.
 *
 * Without partition pruning, since PostgreSQL 18 (seen in 18.4) crashes with all its sessions when a statement that
 * looks for partitions while it runs has to look again at a row that another one has just changed.
 */
const SESSION: Readonly<Record<string, string>> = {
  ...{
    DateStyle: 'ISO, MDY',
    IntervalStyle: 'postgres',
    TimeZone: 'UTC',
    bytea_output: 'hex',
    extra_float_digits: '1',
  },
  ...{ lc_monetary: 'C', lc_numeric: 'C', lc_time: 'C', xmloption: 'content', xmlbinary: 'base64' },
  ...{ standard_conforming_strings: 'on', backslash_quote: 'safe_encoding', escape_string_warning: 'on' },
  ...{ array_nulls: 'on', transform_null_equals: 'off', quote_all_identifiers: 'off' },
  // A function that another role has created in a schema that is searched would run with the rights of this one.
  search_path: 'pg_catalog, pg_temp',
  // A policy that hides rows is an error, as for pg_dump.
  ...{ row_security: 'off', exit_on_error: 'off', check_function_bodies: 'on', client_min_messages: 'warning' },
  ...{ default_transaction_isolation: 'read committed', default_transaction_deferrable: 'off' },
  ...{ idle_session_timeout: '0', enable_partition_pruning: 'off', constraint_exclusion: 'partition' },
  ...{ enable_indexscan: 'on', enable_indexonlyscan: 'on', enable_bitmapscan: 'on', enable_seqscan: 'on' },
  ...{ enable_sort: 'on', enable_hashagg: 'on', enable_nestloop: 'on', enable_hashjoin: 'on', enable_mergejoin: 'on' },
  ...{
    default_tablespace: '',
    temp_tablespaces: '',
    default_table_access_method: 'heap',
    'plpgsql.extra_errors': 'none',
  },
  ...{ enable_material: 'on', from_collapse_limit: '8', join_collapse_limit: '8', plan_cache_mode: 'auto' },
};

/**
 * The connection options that guarantees rest on: those above, and that a commit waits for the disk unless it is
 * asynchronous. Of two that set the same, the last one counts.
 */
export function connectionOptions(asynchronousCommit: boolean, ...more: readonly string[]): string {
  const settings = { ...SESSION, synchronous_commit: asynchronousCommit ? 'off' : 'on' };
  const options = Object.entries(settings).map(
    ([name, value]) => `-c ${name}=${value.replaceAll(' ', String.raw`\ `)}`,
  );
  return [...options, ...more].join(' ');
}

/** A pool that drops a connection which has become useless. */
export class ReliablePool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ ...config, Client: ReliableClient });
    this.on('release', (_error, client) => {
      if ((client as pg.PoolClient & ReliableClient).isUseless) client.end().catch(ignore);
    });
  }
}

/**
 * Milliseconds that a starting process waits for its first connection. No client is waiting yet, and on a busy machine
 * the process itself is slow. A refused connection still fails immediately.
 */
export const STARTING_TIMEOUT_MS = 10_000;

/**
 * Connection options that make every statement use an index, and keep its plan where it is prepared. A plan made for a
 * small table reads all of it, and would still be used once the table has grown a thousandfold. Without the last option,
 * PostgreSQL plans a statement anew whenever its arrays have few items, for all partitions, which takes longer than to
 * run it. JIT never pays off here.
 */
export const BY_INDEX =
  '-c enable_seqscan=off -c random_page_cost=1.1 -c jit=off -c plan_cache_mode=force_generic_plan';

/**
 * Further options, for statements that must read a few rows in the order of an index even if the statistics are stale.
 */
export const IN_INDEX_ORDER = '-c enable_sort=off -c enable_incremental_sort=off -c enable_bitmapscan=off';

function ignore(): void {
  // Deliberately empty: see ReliableClient.
}
