import type { OnApplicationShutdown } from '@nestjs/common';
import { withBackend, type BackendClasses, type PostgresQueueBackend, type Queue } from 'bullmq';
import pg from 'pg';
import { BY_INDEX, CONNECTION_LIMITS, connectionOptions, IN_INDEX_ORDER } from '#platform/database/connection.js';
import { isUnavailable } from '#platform/database/errors.js';
import { createBatchingBackend } from './batching-backend.js';

/**
 * Reports an unavailable database to BullMQ in the only way that it handles: it waits and retries on ECONNREFUSED, but
 * busy-loops or stops on other errors (starting up, shutting down, connection lost).
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
  throw Object.assign(new Error('ECONNREFUSED: the database is unavailable', { cause: error }), {
    code: 'ECONNREFUSED',
  });
}

export interface QueueConnectionOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly queueName: string;
  /**
   * Lets a crash of the database reset a job to an earlier state. It can't lose a job whose outbox entry is gone: the
   * later, synchronous commit of that removal flushes the same log.
   */
  readonly asynchronousCommit: boolean;
  readonly onError: (error: Error) => void;
}

/** BullMQ on PostgreSQL. It needs connections of its own, whose search path is its schema. */
export class QueueConnection implements OnApplicationShutdown {
  readonly pool: pg.Pool;
  readonly classes = withBackend(createBatchingBackend) as unknown as BackendClasses<PostgresQueueBackend, pg.Pool>;
  readonly queue: Queue;
  private abandoned = false;

  constructor({ url, poolSize, queueName, asynchronousCommit, onError }: QueueConnectionOptions) {
    this.pool = new QueuePool({
      ...CONNECTION_LIMITS,
      connectionString: url,
      max: poolSize,
      options: connectionOptions(asynchronousCommit, BY_INDEX, IN_INDEX_ORDER, '-c search_path=bullmq'),
      application_name: 'sluice-queue',
    });
    this.pool.on('error', onError);
    // Typed by its backend, which is irrelevant to its users.
    this.queue = new this.classes.Queue(queueName, { connection: this.pool }) as unknown as Queue;
    this.queue.on('error', onError);
  }

  /** Leaves the connections to the end of the process: BullMQ does not release them while jobs run. */
  abandon(): void {
    this.abandoned = true;
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.abandoned) return;
    await this.queue.close();
    await this.pool.end();
  }
}
