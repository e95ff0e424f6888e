import { withBackend, type BackendClasses, type PostgresQueueBackend, type Queue, type Worker } from 'bullmq';
import type pg from 'pg';
import { ALWAYS_ACTIVE, type Activity } from '#kernel/activity.js';
import {
  BY_INDEX,
  CONNECTION_LIMITS,
  connectionOptions,
  IN_INDEX_ORDER,
  ReliablePool,
} from '#platform/database/connection.js';
import { asUnavailable, isContention, isMissing, isUnavailable } from '#platform/database/errors.js';
import type { FairScheduler } from '../../../application/fair-scheduler.js';
import {
  QueueConnection,
  rethrowAsRefused,
  type Processor,
  type QueueShard,
  type QueueView,
  type WorkerSettings,
} from '../queue-connection.js';
import { createBatchingBackend } from '../internals/postgres/batching-backend.js';
import { EventListener } from '../internals/postgres/event-listener.js';
import { giveTurns, moveBehind } from '../internals/postgres/turns.js';
import { firstWaitingJob, hasExpress, view } from '../internals/postgres/waiting-jobs.js';

/**
 * Seconds that a worker waits for a notification before it looks for a job by itself. Its connection is checked by
 * keepalive, and made anew.
 */
const LOOK_AFTER_S = 60;

const rethrow = rethrowAsRefused('the database', (error) => isUnavailable(error) || isMissing(error));

class QueuePool extends ReliablePool {
  override query(...args: unknown[]): never {
    const result = (super.query as (...args: unknown[]) => unknown).apply(this, args);
    return (result instanceof Promise ? result.catch(rethrow) : result) as never;
  }

  override connect(...args: unknown[]): never {
    const result = (super.connect as (...args: unknown[]) => unknown).apply(this, args);
    return (result instanceof Promise ? result.catch(rethrow) : result) as never;
  }
}

interface PostgresQueueOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly queueName: string;
  /**
   * Lets a crash of the database reset a job to an earlier state. It can't lose a job whose outbox entry is gone: the
   * later, synchronous commit of that removal flushes the same log.
   */
  readonly asynchronousCommit: boolean;
  readonly onError: (error: Error) => void;
  readonly activity?: Pick<Activity, 'isQuiet'>;
}

/** BullMQ on PostgreSQL. It needs connections of its own, whose search path is its schema. */
export class PostgresQueueConnection extends QueueConnection implements QueueShard {
  readonly pool: pg.Pool;
  readonly queue: Queue;
  readonly shards = [this];
  readonly isUp = null;
  private readonly url: string;
  private readonly bullmq: BackendClasses<PostgresQueueBackend, pg.Pool>;
  private events: EventListener | undefined;

  constructor({
    url,
    poolSize,
    queueName,
    asynchronousCommit,
    onError,
    activity = ALWAYS_ACTIVE,
  }: PostgresQueueOptions) {
    super();
    this.url = url;
    this.pool = new QueuePool({
      ...CONNECTION_LIMITS,
      connectionString: url,
      max: poolSize,
      options: connectionOptions(asynchronousCommit, BY_INDEX, IN_INDEX_ORDER, '-c search_path=bullmq'),
      application_name: 'sluice-queue',
    });
    this.pool.on('error', onError);
    // The classes of BullMQ, with our backend, on connections of pg.
    this.bullmq = withBackend(createBatchingBackend(activity)) as unknown as typeof this.bullmq;
    // Typed by its backend, which is irrelevant to its users.
    this.queue = new this.bullmq.Queue(queueName, { connection: this.pool }) as unknown as Queue;
    this.queue.on('error', onError);
  }

  shardOf(): this {
    return this;
  }

  createWorker(process: Processor, settings: WorkerSettings): Worker {
    const { name } = this.queue;
    const worker = new this.bullmq.Worker<unknown, unknown>(name, process, {
      ...{ drainDelay: LOOK_AFTER_S, ...settings },
      connection: this.pool,
    });
    return worker as unknown as Worker;
  }

  view(heldMs: number): Promise<QueueView> {
    return view(this.pool, this.queue.name, heldMs);
  }

  hasExpress(): Promise<boolean> {
    return hasExpress(this.pool, this.queue.name);
  }

  firstWaitingJob(): Promise<string | null> {
    return firstWaitingJob(this.pool, this.queue.name);
  }

  giveTurns(scheduler: FairScheduler, refresh: () => Promise<void>): Promise<void> {
    return giveTurns(this.pool, this.queue.name, scheduler, refresh);
  }

  moveBehind(accountIds: readonly string[], scheduler: FairScheduler): Promise<void> {
    return moveBehind(this.pool, this.queue.name, accountIds, scheduler);
  }

  asUnavailable(error: unknown): unknown {
    // A lock timeout concerns the queue, not a job.
    return asUnavailable(asUnavailable(error), isContention);
  }

  /** Calls the listener when a worker of another program has published an event. */
  listenForEvents(listener: () => void): void {
    this.events = new EventListener(this.url, this.queue.name, listener);
    this.events.start();
  }

  async close(): Promise<void> {
    await this.events?.close();
    if (this.isAbandoned) return;
    await this.queue.close();
    await this.pool.end();
  }
}
