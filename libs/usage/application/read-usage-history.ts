import { accountNotFound } from '#accounts/index.js';
import { nextStart, type UsagePeriod } from '../domain/usage-period.js';
import type { AccountUsagePeriod, HistoryQuery, UsageHistory } from './usage-history.js';

/** Reads what accounts have sent in each period that starts within a time span. */
export class ReadUsageHistory {
  constructor(private readonly history: UsageHistory) {}

  /** @throws DomainError `account_not_found`, or `unavailable` also while hours that are over are not counted yet */
  async of(accountId: string, query: HistoryQuery): Promise<readonly UsagePeriod[]> {
    const periods = await this.history.of(accountId, aligned(query));
    if (periods === null) throw accountNotFound();
    return periods;
  }

  /** @throws DomainError `unavailable`, also while hours that are over are not counted yet */
  ofAll(query: HistoryQuery): Promise<readonly AccountUsagePeriod[]> {
    return this.history.ofAll(aligned(query));
  }
}

function aligned(query: HistoryQuery): HistoryQuery {
  const { since, until, by } = query;
  return { ...query, since: nextStart(since, by), until: nextStart(until, by) };
}
