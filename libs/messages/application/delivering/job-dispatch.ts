import type { Message } from '../../domain/message.js';

/**
 * About how many bytes of messages are stored, read or relayed at once. Texts of control characters become six times as
 * long in the JSON of their jobs, of which a call of the queue has several copies.
 */
export const BATCH_BYTES = 1_048_576;

/** Messages that were stored together and whose jobs may not be in the queue yet. */
export interface OutboxEntry {
  readonly id: string;
  readonly messages: readonly Message[];
}

/**
 * Gets the jobs of stored messages to the queue. The store calls it, not the use case: one entry holds the messages of all
 * requests of a group commit.
 */
export abstract class JobDispatch {
  /**
   * Called once for an entry, after its commit. Never throws or blocks.
   * @param onRelayed called when the jobs are in the queue or left to a sweeper; with it, the entry waits for no others
   */
  abstract enqueue(entry: OutboxEntry, onRelayed?: () => void): void;

  /**
   * Removes a job, unless a worker has it.
   * @throws DomainError `unavailable` when the queue can't be reached
   */
  abstract remove(jobId: string): Promise<void>;
}
