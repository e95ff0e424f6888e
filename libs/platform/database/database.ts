import pg, { type ClientConfig, type Pool, type PoolClient, type QueryResultRow } from 'pg';
import { DataSource, type EntitySchema } from 'typeorm';
import { asUnavailable, isUnavailable } from './faults.js';

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly applicationName: string;
  readonly entities?: EntitySchema[];
  /** Lets a crash of the database forget what was committed within the last second or so. */
  readonly asynchronousCommit?: boolean;
  /** Milliseconds that a statement may take; by default what CONNECTION_LIMITS says. */
  readonly timeLimitMs?: number;
  readonly onError: (error: Error) => void;
}

/**
 * TypeORM's connection, with a way to say SQL as SQL.
 * Every method throws DomainError `unavailable` when the database can't be reached or won't answer in time.
 */
export class Database {
  private constructor(
    readonly dataSource: DataSource,
    private readonly pool: Pool,
  ) {}

  static async connect(options: DatabaseOptions): Promise<Database> {
    const dataSource = new DataSource({
      type: 'postgres',
      url: options.url,
      poolSize: options.poolSize,
      applicationName: options.applicationName,
      entities: options.entities ?? [],
      installExtensions: false,
      poolErrorHandler: options.onError,
      extra: {
        ...CONNECTION_LIMITS,
        connectionTimeoutMillis: STARTING_TIMEOUT_MS,
        ...(options.timeLimitMs === undefined ? {} : limitsOf(options.timeLimitMs)),
        options: options.asynchronousCommit === true ? `${BY_INDEX} ${ASYNCHRONOUS_COMMIT}` : BY_INDEX,
      },
    });
    try {
      await dataSource.initialize();
    } catch (error) {
      throw asUnavailable(error);
    }
    const pool = (dataSource.driver as unknown as { master: Pool }).master;
    pool.options.connectionTimeoutMillis = CONNECTION_LIMITS.connectionTimeoutMillis;
    return new Database(dataSource, pool);
  }

  async query<Row extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    try {
      return (await this.pool.query<Row>(sql, values)).rows;
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  /** A statement of the hot path: parsed and planned once a connection. `name` must be unique for its text. */
  async prepared<Row extends QueryResultRow>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    try {
      return (await this.pool.query<Row>({ name, text, values })).rows;
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  async transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    let broken = true;
    try {
      client = await this.pool.connect();
      await client.query('BEGIN');
      const result = await work(client);
      await client.query('COMMIT');
      broken = false;
      return result;
    } catch (error) {
      // A connection that says nothing any more would not answer to this either, for as long again.
      broken =
        client === undefined ||
        isUnavailable(error) ||
        (await client.query('ROLLBACK').then(
          () => false,
          () => true,
        ));
      throw asUnavailable(error);
    } finally {
      client?.release(broken);
    }
  }

  async close(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}

/**
 * A connection that ends no process when it is lost. A pool stops listening when it hands a connection out, and whoever
 * gets it can begin only after what came in the same packet: a server that shuts down may have said so in it. What is
 * lost is told by the query that fails, or by the pool.
 */
export class ListeningClient extends pg.Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    this.on('error', ignore);
  }
}

/**
 * Nothing waits for ever: not for a connection, not for an answer, not for a lock. The client's own limit
 * (`query_timeout`) is the one that helps when the link hangs half-open and the server's can't be heard.
 */
export const CONNECTION_LIMITS = {
  connectionTimeoutMillis: 3_000,
  statement_timeout: 10_000,
  query_timeout: 12_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 20_000,
  keepAlive: true,
  Client: ListeningClient,
} as const;

/** An option of connections whose commits don't wait for the disk. */
export const ASYNCHRONOUS_COMMIT = '-c synchronous_commit=off';

/**
 * Milliseconds that a process which starts waits for a connection: it keeps nobody waiting, and on a busy machine it is
 * itself what is slow. Where nobody listens, that is told at once.
 */
export const STARTING_TIMEOUT_MS = 10_000;

/**
 * Every statement of ours goes by an index. A plan that was made for a small table reads it as a whole, is kept by each
 * connection, and is still in use when the table has grown a thousandfold. Compiling never pays for what is so short.
 */
const BY_INDEX = '-c enable_seqscan=off -c random_page_cost=1.1 -c jit=off';

// The client waits a little longer than the server, whose own end leaves the connection of use.
function limitsOf(timeLimitMs: number) {
  return { statement_timeout: timeLimitMs, query_timeout: timeLimitMs + 500 };
}

function ignore(): void {
  // Deliberately empty: see ListeningClient.
}
