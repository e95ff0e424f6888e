import type { Job, Queue, Worker, WorkerOptions } from 'bullmq';
import type { Database } from '#platform/database/database.js';
import { sharedValue } from '#platform/database/installation.js';
import type { Logger } from '#platform/observability/logging.js';
import { UsageError } from '#platform/process/usage-error.js';
import type { FairScheduler, Waiting } from '../../application/fair-scheduler.js';
import type { WorkerPlaces } from './worker-places.js';

export type Processor = (job: Job, token?: string) => Promise<unknown>;
export type WorkerSettings = Omit<WorkerOptions, 'connection'> & { readonly places?: WorkerPlaces };

export interface QueueView extends Waiting {
  /** Places of all workers that jobs have held for some time, by the accounts of their messages. */
  readonly held: ReadonlyMap<string, number>;
}

/** A queue of BullMQ, with what its public API does not offer or does at the cost of reading every job. */
export interface QueueShard {
  readonly queue: Queue;

  /** A worker of the queue, which the caller closes. */
  createWorker(process: Processor, settings: WorkerSettings): Worker;

  /** @param heldMs only places that are held at least this long count */
  view(heldMs: number): Promise<QueueView>;

  /** The id of the job that a worker takes next; null when none waits or the queue is paused. */
  firstWaitingJob(): Promise<string | null>;

  /**
   * Gives some of the retries that have become due a turn each, as if their messages were sent now.
   * @param refresh called first if there are any: tells the scheduler the current turn
   */
  giveTurns(scheduler: FairScheduler, refresh: () => Promise<void>): Promise<void>;

  /** Whether a job of the express turn waits. */
  hasExpress(): Promise<boolean>;

  /** Gives some jobs of these accounts that wait in the express turn another one each. */
  moveBehind(accountIds: readonly string[], scheduler: FairScheduler): Promise<void>;
}

/** BullMQ on one of its stores. */
export abstract class QueueConnection<Shard extends QueueShard = QueueShard> {
  /** The queues among which the messages are divided. At least one. */
  abstract readonly shards: readonly Shard[];
  protected isAbandoned = false;

  /** The queue of a message, or of its job. */
  abstract shardOf(id: string): Shard;

  /** The error itself, or DomainError `unavailable` if the same call may succeed later. */
  abstract asUnavailable(error: unknown): unknown;

  /** Whether its server responds; null when it is the database of the messages. */
  abstract get isUp(): boolean | null;

  /** Leaves the connections to the end of the process: BullMQ does not release them while jobs run. */
  abandon(): void {
    this.isAbandoned = true;
  }

  abstract close(): Promise<void>;
}

/** @throws UsageError when the jobs of this installation are in another queue */
export async function requireQueueName(database: Database, name: string): Promise<void> {
  const stored = await sharedValue(database, 'queue_name', name);
  if (stored === name) return;
  throw new UsageError(`QUEUE_NAME must be "${stored}", the queue of this database; it is "${name}".`);
}

export function logLostQueue(logger: Logger): (error: Error) => void {
  return (error) => {
    logger.warn({ err: error }, 'queue connection failed');
  };
}

/**
 * Reports a store that is unavailable to BullMQ in the only way that it handles: it waits and retries on ECONNREFUSED, but
 * busy-loops or stops on other errors (starting up, shutting down, connection lost, no memory).
 */
export function rethrowAsRefused(store: string, isUnavailable: (error: unknown) => boolean) {
  return (error: unknown): never => {
    if (!isUnavailable(error)) throw error;
    throw Object.assign(new Error(`ECONNREFUSED: ${store} is unavailable`, { cause: error }), { code: 'ECONNREFUSED' });
  };
}
