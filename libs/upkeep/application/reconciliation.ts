/**
 * What the processes share that reconcile: whose turn it is, and how far the walk through the open messages has come. All
 * of them continue the same walk.
 */
export abstract class Reconciliation {
  /**
   * Runs `work`, unless another process is running its own, or one began within about the last `everyMs`. With 0, only the
   * former prevents it, and it delays no later run.
   * @param isQuiet then it also does nothing, but notes a run, if there are no open messages and the last walk has ended
   * @param work must call `keep` every 15 seconds, which rejects when the turn is lost
   */
  abstract take(
    everyMs: number,
    work: (keep: () => Promise<unknown>) => Promise<void>,
    isQuiet?: boolean,
  ): Promise<void>;

  /** After which message, by its id, the walk continues. */
  abstract position(): Promise<string>;

  /**
   * Moves the walk on.
   * @param position '' at the end of a walk: the next one begins with the oldest message
   * @param strays how many stray messages were found on the way
   */
  abstract advance(position: string, strays: number): Promise<void>;

  /** Counts further strays that were found on the way. */
  abstract count(strays: number): Promise<void>;

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
