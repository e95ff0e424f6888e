import type { Message } from '../domain/message.js';

/** The queue that carries jobs to workers. */
export abstract class DeliveryQueue {
  /**
   * Adds a job for each message, all or none. Workers take the jobs of an account that has many waiting in turn with those
   * of others: nobody waits for the whole backlog of somebody else. A job that the queue still has is left as it is, so that adding twice
   * does no harm.
   * @throws DomainError `unavailable` when the queue can't be reached; anything else when a job can't be added as it is
   */
  abstract add(messages: readonly Message[]): Promise<void>;

  /** Takes a job out, unless a worker has it. */
  abstract remove(jobId: string): Promise<void>;
}
