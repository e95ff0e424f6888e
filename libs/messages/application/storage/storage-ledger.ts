/** The bytes that an account stores in messages that were created on one day. */
export interface DayTotal {
  readonly accountId: string;
  /** In UTC: days since 1970-01-01. */
  readonly day: number;
  readonly bytes: number;
}

/** The same with the number of these messages. */
export interface AccountDay extends DayTotal {
  readonly messages: number;
}

/** What the plan of an account says of its storage. */
export interface PlannedStorage {
  /** The name of the plan. */
  readonly plan: string;
  /** Bytes that the account may store; null: the settings decide. */
  readonly maxBytes: number | null;
}

export interface AccountTotal extends PlannedStorage {
  readonly bytes: number;
}

/** Null for an account that does not exist. */
export type WrittenDay = DayTotal & { readonly planned: PlannedStorage | null };

/**
 * How much is stored for each account, by day, so that a day's count is removed with its messages.
 *
 * Both methods throw DomainError `unavailable` when the store can't be reached; whether something was added is then
 * unknown.
 */
export abstract class StorageLedger {
  /**
   * Adds to days, all or nothing; any number of processes may do so at once.
   * @param days each at most once
   * @returns the same days with their new totals and the plans of their accounts, in any order
   */
  abstract add(days: readonly AccountDay[]): Promise<readonly WrittenDay[]>;

  /** The plan of each account and its bytes over all days. An account that does not exist may be missing. */
  abstract totals(accountIds: readonly string[]): Promise<ReadonlyMap<string, AccountTotal>>;
}
