/** Which jobs the queue has: those that were added to it, or others. */
export abstract class QueueContents {
  /** Another value than before means that any job may be missing. Rejects while the queue can't be reached. */
  abstract identity(): Promise<string>;

  /**
   * Moves messages from the queue that this installation used before to the outbox, some at a time, and each when its
   * job is due there.
   * @returns whether there may be more
   */
  abstract takeOver(): Promise<boolean>;
}
