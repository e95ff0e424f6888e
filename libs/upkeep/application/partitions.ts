/** The messages that were created in a time span; it starts and ends at midnight UTC. */
export interface Period {
  readonly from: Date;
  /** Exclusive. */
  readonly until: Date;
}

/**
 * Messages and their attempts are stored by period, so that old ones can be removed at once. Periods are contiguous;
 * messages outside of all periods, which a wrong clock may cause, are stored as well.
 *
 * Each change is one transaction. It never blocks others for longer than some tenths of a second: if it can't get its
 * locks in time, it throws an error; if another process makes the change, it returns false.
 */
export abstract class Partitions {
  /** The oldest first, and the current time of the store's clock. */
  abstract list(): Promise<{ readonly now: Date; readonly periods: readonly Period[] }>;

  /** Adds a period after the last one, with its messages that are stored already. */
  abstract add(period: Period): Promise<boolean>;

  /**
   * Removes all messages of a period, their attempts and their share of the stored bytes; none if one of them is open.
   * A message that is retried at the same time is kept as open or removed, never half of each.
   * @returns whether there were any
   */
  abstract empty(period: Period): Promise<boolean>;

  /** Removes the oldest period, if it has no messages. */
  abstract remove(oldest: Period): Promise<boolean>;

  /**
   * Removes some of the messages outside of all periods that are final and unchanged since a time.
   * @returns how many; 0 when there are none left
   */
  abstract removeStragglers(before: Date): Promise<number>;
}
