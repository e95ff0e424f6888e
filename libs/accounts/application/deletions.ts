/** A deletion as its operator sees it. */
export interface Deletion {
  readonly accountId: string;
  /** When it was first requested. */
  readonly requestedAt: Date;
}

export interface NewDeletion extends Deletion {
  /** Whether it was requested for the first time. */
  readonly isNew: boolean;
}

/** The accounts that operators have deleted, and how far the removal of what is stored of them has come. */
export abstract class Deletions {
  /**
   * From the commit on, the account is gone to everybody: its keys are unknown, nothing of it is delivered, and its external
   * id is free. Its name is removed at once.
   * @returns the first request, also once everything is removed; null when there was no such account
   */
  abstract request(id: string): Promise<NewDeletion | null>;

  /**
   * The deletions with something left to remove, for one process at a time: for this one until it has not asked for a
   * while, or releases them.
   * @param worker the process, a UUID
   */
  abstract take(worker: string): Promise<string[]>;

  /** Leaves the deletions to other processes. */
  abstract release(worker: string): Promise<void>;

  /**
   * To be called when nothing of an account was left to remove. The removal is repeated after transactions and processes
   * that may have stored something meanwhile have ended, and then once more after the account itself is removed.
   * @param isComplete whether nothing was left for later
   * @returns whether that was the last time: even the id of the account is removed then
   */
  abstract passed(accountId: string, isComplete: boolean): Promise<boolean>;
}
