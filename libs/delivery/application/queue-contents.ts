/** Names a queue in the database of the messages. */
export const IN_POSTGRESQL = 'postgresql';

export interface QueueIdentity {
  /** Identifies the queue; without spaces. A new value means that the queue has lost all its jobs. */
  readonly dataSet: string;
  /** A new value means that any job may be missing. */
  readonly contents: string;
}

/** Whether the queue still has the jobs that were added to it. */
export abstract class QueueContents {
  /** Rejects while the queue can't be reached. */
  abstract identity(): Promise<QueueIdentity>;

  /**
   * Moves some messages from the queue that this installation used before to the outbox, retries only when they are due.
   * @returns whether there may be more
   */
  abstract takeOver(): Promise<boolean>;
}
