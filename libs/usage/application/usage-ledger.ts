/** Hours whose messages are counted again, of one account each. */
export interface Recount {
  readonly accountId: string;
  readonly start: Date;
}

/**
 * The counts of all accounts. Messages are counted in the order of their ids, and so of the time of their acceptance, each
 * exactly once: a step and the note of how far it came are one transaction, so that it can be interrupted at any point,
 * and be taken by several processes at once.
 *
 * All methods throw DomainError `unavailable` when the store can't be reached. The step may then have been made.
 */
export abstract class UsageLedger {
  /** The time by the clock of the store. */
  abstract now(): Promise<Date>;

  /**
   * Announces that the messages up to an id are going to be counted: those that are stored afterwards are noted as late.
   * @param everyMs does nothing if a process has announced something within this time
   * @returns whether it did
   */
  abstract announce(id: string, everyMs: number): Promise<boolean>;

  /**
   * Waits until all transactions have ended that may store messages and began before the announcement. It blocks nobody.
   * @param signal when it aborts, it waits no longer
   * @returns whether they have; false when they take too long
   */
  abstract othersEnded(signal: AbortSignal): Promise<boolean>;

  /**
   * Counts some messages up to an id that was announced, after `othersEnded`.
   * @returns whether there are more
   */
  abstract count(id: string): Promise<boolean>;

  /** Counts some of the late messages. @returns whether there are more */
  abstract countLate(): Promise<boolean>;

  /** Some of the hours that are due for a look at how their messages have ended. */
  abstract due(): Promise<readonly Recount[]>;

  /**
   * Looks how the messages of these hours have ended, and when to look again. Hours whose messages were removed keep what
   * they have.
   */
  abstract recount(hours: readonly Recount[]): Promise<void>;

  /** Makes some hours of a time span due whose messages may still change. @returns whether there are more */
  abstract makeDue(from: Date, until: Date): Promise<boolean>;

  /** Makes the hours of an account due whose messages may still change. */
  abstract makeDueOf(accountId: string): Promise<void>;

  /** Whether messages are not counted yet, or hours are due. */
  abstract hasWork(): Promise<boolean>;

  /** Whether messages of an account are not counted yet. */
  abstract hasUncounted(accountId: string): Promise<boolean>;

  /** Looks no more at how the messages of an account end. */
  abstract close(accountId: string): Promise<void>;

  /** Whether all messages before an id are counted, apart from those that are stored later. */
  abstract hasCounted(id: string): Promise<boolean>;

  /** Removes some hours before a time. @returns whether there are more */
  abstract remove(before: Date): Promise<boolean>;
}
