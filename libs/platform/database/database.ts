import type { Pool, PoolClient, QueryConfig, QueryResultRow } from 'pg';
import { DataSource, type EntitySchema } from 'typeorm';
import {
  BY_INDEX,
  CONNECTION_LIMITS,
  connectionOptions,
  IN_INDEX_ORDER,
  ReliableClient,
  ReliablePool,
  STARTING_TIMEOUT_MS,
} from './connection.js';
import { asUnavailable, isStale, sqlState } from './errors.js';
import { Repositories } from './repositories.js';
import { CallerLimit } from '../concurrency/caller-limit.js';
import type { Logger } from '../observability/logging.js';

/** A statement that was chosen to resolve a deadlock is repeated until it was chosen this often. */
const MAX_DEADLOCKS = 3;
const DEADLOCK = '40P01';

/** Operations on the same account or message use at most two connections of a pool. */
const CALLER_LIMIT = { perCaller: 2, maxWaitMs: 2_000 };

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly applicationName: string;
  /** A crash of the database may lose the commits of about the last second. */
  readonly asynchronousCommit?: boolean;
  /** Statements read rows in the order of an index, and are never planned anew. */
  readonly inIndexOrder?: boolean;
  /** The maximum duration of a statement in milliseconds. Defaults to CONNECTION_LIMITS. */
  readonly timeLimitMs?: number;
  readonly onError: (error: Error) => void;
}

/** An `onError` of a `Database`. */
export function logLostConnections(logger: Logger): (error: Error) => void {
  return (error) => {
    logger.warn({ err: error }, 'database connection lost');
  };
}

/**
 * A pool of connections to PostgreSQL.
 * Every method throws DomainError `unavailable` when the database cannot be reached or does not respond in time.
 */
export class Database {
  private readonly limit = new CallerLimit(CALLER_LIMIT);

  private constructor(private readonly pool: Pool) {}

  static async connect(options: DatabaseOptions): Promise<Database> {
    const pool = new ReliablePool({
      ...CONNECTION_LIMITS,
      ...(options.timeLimitMs === undefined ? {} : limitsOf(options.timeLimitMs)),
      connectionTimeoutMillis: STARTING_TIMEOUT_MS,
      connectionString: options.url,
      max: options.poolSize,
      application_name: options.applicationName,
      options: connectionOptions(
        options.asynchronousCommit === true,
        BY_INDEX,
        ...(options.inIndexOrder === true ? [IN_INDEX_ORDER] : []),
      ),
    });
    pool.on('error', options.onError);
    try {
      (await pool.connect()).release();
    } catch (error) {
      throw asUnavailable(error);
    }
    pool.options.connectionTimeoutMillis = CONNECTION_LIMITS.connectionTimeoutMillis;
    return new Database(pool);
  }

  query<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.rows({ text, values });
  }

  /** A statement that each connection parses and plans once. `name` must be unique for its text. */
  prepared<Row extends QueryResultRow>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return this.rows({ name, text, values });
  }

  async transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    let broken = false;
    try {
      client = await this.pool.connect();
      await client.query('BEGIN');
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client?.query('ROLLBACK').catch(() => (broken = true));
      throw asUnavailable(error);
    } finally {
      client?.release(broken);
    }
  }

  /**
   * Runs an operation on an account or a message. At most two operations on the same one run at a time; the others wait
   * without a connection. Otherwise they could take all connections of the pool.
   * @throws RetryLaterError `unavailable` when too many wait
   */
  async limited<T>(id: string, work: () => Promise<T>): Promise<T> {
    await this.limit.acquire(id);
    try {
      return await work();
    } finally {
      this.limit.release(id);
    }
  }

  /** TypeORM's repositories of these entities, on the connections of this pool and closed with it. */
  async repositories(entities: EntitySchema[]): Promise<Repositories> {
    const { pool } = this;
    const dataSource = new DataSource({
      type: 'postgres',
      // Replaces the module `pg`, of which TypeORM only needs the constructor of a pool.
      driver: {
        Pool: function () {
          return pool;
        },
      },
      installExtensions: false,
      poolErrorHandler: () => undefined,
      entities,
    });
    try {
      return new Repositories(await dataSource.initialize(), this);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  async close(): Promise<void> {
    if (!this.pool.ending) await this.pool.end();
  }

  private async rows<Row extends QueryResultRow>(query: QueryConfig): Promise<Row[]> {
    const startedAt = performance.now();
    for (let deadlocks = 0; ;) {
      let client: PoolClient | undefined;
      try {
        client = await this.pool.connect();
        return (await client.query<Row>(query)).rows;
      } catch (error) {
        // The pool drops this connection. Other connections that were opened before the query may be stale as well.
        if (isStale(error) && client instanceof ReliableClient && client.openedAt < startedAt) continue;
        // It is rolled back, and the others have gone on.
        if (sqlState(error) === DEADLOCK && ++deadlocks < MAX_DEADLOCKS) continue;
        throw asUnavailable(error);
      } finally {
        client?.release();
      }
    }
  }
}

// The server's limit is a little shorter: when it ends a statement, the connection remains usable.
function limitsOf(timeLimitMs: number) {
  return { statement_timeout: timeLimitMs, query_timeout: timeLimitMs + 500 };
}
