/** The messages whose ids are of a time; it begins and ends at midnight in UTC. */
export interface Period {
  readonly from: Date;
  /** Not of it any more. */
  readonly until: Date;
}

/**
 * Messages are stored by time, with their attempts, so that old ones can be removed all at once. Periods follow each
 * other without a gap; what is of none is stored as well, as it may come of a clock that is wrong.
 *
 * Each change is one transaction, whole or not at all. It never has others wait for longer than some tenths of a
 * second: it rather does not take place. Then, and when another process is at it or was first, the answer is false.
 */
export abstract class Partitions {
  /** The oldest first, and the time by the store's clock. */
  abstract list(): Promise<{ readonly now: Date; readonly periods: readonly Period[] }>;

  /** Adds a period after the last one, with the messages of it that are stored already. */
  abstract add(period: Period): Promise<boolean>;

  /**
   * Removes all messages of a period, with their attempts and what they count as stored; none at all while one of them
   * is open. What is retried meanwhile is open, or gone: never between.
   * @returns whether there were any
   */
  abstract empty(period: Period): Promise<boolean>;

  /** Removes the oldest period, if it has no messages. */
  abstract remove(oldest: Period): Promise<boolean>;

  /**
   * Removes messages of no period that are final and have not changed since a time.
   * @returns how many
   */
  abstract removeStragglers(before: Date): Promise<number>;
}
