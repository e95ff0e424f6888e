import { createPostgresBackend, withBackend, type BackendClasses, type PostgresQueueBackend } from 'bullmq';
import pg from 'pg';
import { ASYNCHRONOUS_COMMIT, CONNECTION_LIMITS } from '#platform/database/connection.js';
import { isUnavailable } from '#platform/database/errors.js';

/**
 * A pool that tells BullMQ about a database that is away in the one way it knows: BullMQ waits and repeats what fails
 * with ECONNREFUSED, but spins on, or gives up, anything else (starting up, shutting down, connection lost).
 */
class QueuePool extends pg.Pool {
  override query(...args: unknown[]): never {
    const result = (super.query as (...args: unknown[]) => unknown).apply(this, args);
    return (result instanceof Promise ? result.catch(rethrow) : result) as never;
  }

  override connect(...args: unknown[]): never {
    const result = (super.connect as (...args: unknown[]) => unknown).apply(this, args);
    return (result instanceof Promise ? result.catch(rethrow) : result) as never;
  }
}

function rethrow(error: unknown): never {
  if (!isUnavailable(error)) throw error;
  throw Object.assign(new Error('ECONNREFUSED: the database is away', { cause: error }), { code: 'ECONNREFUSED' });
}

export interface QueueConnection {
  readonly pool: pg.Pool;
  readonly classes: BackendClasses<PostgresQueueBackend, pg.Pool>;
  close(): Promise<void>;
}

export interface QueueConnectionOptions {
  readonly url: string;
  readonly poolSize: number;
  /**
   * Lets a crash of the database take a job back to where it was a moment ago. What was committed synchronously
   * afterwards, such as that its outbox entry is gone, is never kept without it: they share one log.
   */
  readonly asynchronousCommit: boolean;
  readonly onError: (error: Error) => void;
}

/** BullMQ on PostgreSQL. It wants connections of its own, whose search path is its schema. */
export function openQueueConnection(options: QueueConnectionOptions): QueueConnection {
  const searchPath = '-c search_path=bullmq';
  const pool = new QueuePool({
    ...CONNECTION_LIMITS,
    connectionString: options.url,
    max: options.poolSize,
    options: options.asynchronousCommit ? `${searchPath} ${ASYNCHRONOUS_COMMIT}` : searchPath,
    application_name: 'sluice-queue',
  });
  pool.on('error', options.onError);
  return {
    pool,
    classes: withBackend(createPostgresBackend) as unknown as BackendClasses<PostgresQueueBackend, pg.Pool>,
    close: () => pool.end(),
  };
}
