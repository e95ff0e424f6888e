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

/** What the messages of an account take up, in bytes. */
export interface Storage {
  /** Null when there is none. */
  readonly limitBytes: number | null;
  readonly usedBytes: number;
}

export interface Holdings {
  readonly messages: Backlog;
  readonly storage: Storage;
}

/** Tells of an account's messages, which are no concern of this context: the app says where it comes from. */
export type HoldingsOf = (accountId: string) => Promise<Holdings>;

export const HOLDINGS_OF = Symbol('holdings of an account');
