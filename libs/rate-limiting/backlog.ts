/** How the messages of an account move. */
export interface Backlog {
  /** Messages that are due and wait for a worker; 10,000 means that or more. */
  readonly queued: number;
  /** Since when the one waits that is due for longest; null when none does. */
  readonly oldestQueuedAt: Date | null;
  /** Messages whose time has not come; 10,000 means that or more. */
  readonly scheduled: number;
  /** Messages delivered in a minute, by the last five minutes. */
  readonly deliveredPerMinute: number;
}

/** Tells of an account's messages, for whom they are not a concern of this context: the app says where it comes from. */
export type BacklogOf = (accountId: string) => Promise<Backlog>;

export const BACKLOG_OF = Symbol('backlog of an account');
