import pg from 'pg';

/** What pg reports when a query exceeds `query_timeout`. */
const READ_TIMEOUT = 'Query read timeout';

/**
 * A connection that never ends the process and is never reused after a timeout.
 *
 * A pool removes its error listener when it lends a connection, and the borrower can add one only after the packet in
 * progress, which may contain the shutdown notice of the server. The failed query, or the pool, reports the loss.
 *
 * After `query_timeout` pg keeps the connection open with the query still pending, so every later query on a half-open
 * link would time out as well.
 */
export class ReliableClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', ignore);
  }

  override query(...args: unknown[]): never {
    const result = (super.query as (...args: unknown[]) => unknown).apply(this, args);
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        if (error instanceof Error && error.message === READ_TIMEOUT) void this.end();
      });
    }
    return result as never;
  }
}

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
  Client: ReliableClient,
} as const;

/**
 * The connection options that guarantees rest on, whatever the defaults of the server, the database or the role are: each
 * statement sees what was committed before it, and a commit waits for the disk unless it is asynchronous.
 *
 * Without partition pruning, since PostgreSQL 18 (seen in 18.4) crashes with all its sessions when a statement that looks
 * for partitions while it runs has to look again at a row that another one has just changed.
 */
export function connectionOptions(asynchronousCommit: boolean, ...more: readonly string[]): string {
  const commit = `-c synchronous_commit=${asynchronousCommit ? 'off' : 'on'}`;
  const isolation = String.raw`-c default_transaction_isolation=read\ committed`;
  return [commit, isolation, '-c enable_partition_pruning=off', ...more].join(' ');
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
 * Further options, for statements that read a few rows in the order of an index, whatever the statistics are, which may
 * be stale.
 */
export const IN_INDEX_ORDER = '-c enable_sort=off -c enable_bitmapscan=off';

function ignore(): void {
  // Deliberately empty: see ReliableClient.
}
