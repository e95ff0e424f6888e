/** How the messages of an account move. */
export interface Backlog {
  /** Messages that are due and wait for a worker, or for their next attempt; 10,000 means 10,000 or more. */
  readonly queued: number;
  /** When the message that has been due the longest became due; null when none is. */
  readonly oldestQueuedAt: Date | null;
  /** Messages that are not yet due; 10,000 means 10,000 or more. */
  readonly scheduled: number;
  /** Deliveries per minute, over the last five minutes. */
  readonly deliveredPerMinute: number;
}

export abstract class Backlogs {
  /** The backlog of an account. Cheap, however long it is. */
  abstract of(accountId: string): Promise<Backlog>;
}
