/** The walk through the open messages that looks for strays. All processes continue the same one. */
export abstract class Walk {
  /** Begins again with the oldest message. */
  abstract restart(): Promise<void>;

  /**
   * Whether the last step was the last one of a walk without strays. One that found some is repeated: they may not all
   * have been requeued.
   */
  abstract hasPassed(): Promise<boolean>;

  /** The contents of the queue with which a whole walk has compared the messages. */
  abstract contents(): Promise<string>;

  abstract setContents(identity: string): Promise<void>;
}
