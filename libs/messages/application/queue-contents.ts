export interface QueueIdentity {
  /** Identifies the queue; without spaces. Another value than before means that it has lost all its jobs. */
  readonly dataSet: string;
  /** Another value than before means that any job may be missing. */
  readonly contents: string;
}

/** Which jobs the queue has: those that were added to it, or others. */
export abstract class QueueContents {
  /** Rejects while the queue can't be reached. */
  abstract identity(): Promise<QueueIdentity>;

  /**
   * Moves messages from the queue that this installation used before to the outbox, some at a time, and each when its
   * job is due there.
   * @returns whether there may be more
   */
  abstract takeOver(): Promise<boolean>;
}
