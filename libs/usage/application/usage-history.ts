import type { PeriodLength, UsagePeriod } from '../domain/usage-period.js';

export interface AccountUsagePeriod extends UsagePeriod {
  readonly accountId: string;
  /** The operator's own id of the account; null when it has none, or no longer exists. */
  readonly externalId: string | null;
}

/** The last period of a page. */
export interface Place {
  readonly start: Date;
  /** Empty in the history of one account. */
  readonly accountId: string;
}

/** Which periods, the oldest first: those that start within a time span, `until` exclusive. */
export interface HistoryQuery {
  readonly by: PeriodLength;
  /** The start of a period, like `until`. */
  readonly since: Date;
  readonly until: Date;
  /** Only periods after this one. */
  readonly after: Place | null;
  readonly limit: number;
}

/**
 * Reads counts: a row for each period in which something was accepted. A page reads about as many rows as it has hours.
 *
 * Both methods throw DomainError `unavailable` when the store can't be reached, or when hours of the time span are not counted
 * yet that ended a minute ago or longer.
 */
export abstract class UsageHistory {
  /** @returns null for an account that does not exist and never has */
  abstract of(accountId: string, query: HistoryQuery): Promise<readonly UsagePeriod[] | null>;

  /** The same of all accounts, those of the same period by their ids. */
  abstract ofAll(query: HistoryQuery): Promise<readonly AccountUsagePeriod[]>;
}
