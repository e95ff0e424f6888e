import type { Message } from '#messages/index.js';

/** The queue that carries jobs to workers. */
export abstract class DeliveryQueue {
  /**
   * Adds a job for each message: all, or none if one can't be added, or an unknown part if it is `unavailable`.
   * Accounts take turns: a message waits for a bounded number of another account's, however many that has. A job that the
   * queue still has is left unchanged, so adding twice is harmless.
   * @throws DomainError `unavailable` when the queue can't be reached; another error when a job can't be added
   */
  abstract add(messages: readonly Message[]): Promise<void>;

  /** Removes a job, unless a worker has it. */
  abstract remove(jobId: string): Promise<void>;
}
