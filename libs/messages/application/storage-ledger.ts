/** What the messages of an account take up that were created on one day. */
export interface AccountDay {
  readonly accountId: string;
  /** In UTC: days since 1970-01-01. */
  readonly day: number;
  readonly bytes: number;
  readonly messages: number;
}

/**
 * How much is stored for each account, by day, so that a day's count goes with its messages.
 *
 * Both methods throw DomainError `unavailable` when the store can't be reached; whether something was added is then
 * unknown.
 */
export abstract class StorageLedger {
  /**
   * Adds to days, in one step: all of it or nothing. Any number of processes may do so at once.
   * @param days each at most once
   * @returns the same days as they now are, in any order
   */
  abstract add(days: readonly AccountDay[]): Promise<readonly Omit<AccountDay, 'messages'>[]>;

  /** The bytes of accounts over all their days. Of one that stores nothing there may be no entry. */
  abstract totals(accountIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
}
