import { RetryLaterError } from '#kernel/domain-error.js';
import { lowestId } from '#kernel/ids.js';
import { isTypeId } from '#kernel/typeid.js';
import type { Reads } from '#platform/database/reads.js';
import { UsageHistory, type AccountUsagePeriod, type HistoryQuery } from '../../application/usage-history.js';
import { PERIOD_MS, type UsagePeriod } from '../../domain/usage-period.js';
import { HAS_UNCOUNTED, HISTORY, HISTORY_OF_ALL, IS_KNOWN, PROGRESS } from './history.sql.js';

/** An hour must be counted when it has been over for so long. */
const GRACE_MS = 60_000;
const RETRY_AFTER_SECONDS = 15;

/** Reads of all accounts are limited like those of one. */
const OPERATORS = 'usage of all accounts';

interface Progress {
  counted: string;
  now: Date;
  /** Whether late messages have not been counted for long. */
  isStuck: boolean;
}

export class PostgresUsageHistory extends UsageHistory {
  constructor(private readonly reads: Reads) {
    super();
  }

  async of(accountId: string, { by, since, until, after, limit }: HistoryQuery): Promise<UsagePeriod[] | null> {
    if (!isTypeId('acct', accountId)) return null;
    await this.requireCounted(accountId, until);
    const first = after === null ? since : latest(since, new Date(after.start.getTime() + PERIOD_MS[by]));
    const values = [accountId, first, until, limit];
    const rows = await this.reads.query<UsagePeriod>(accountId, `usage by ${by}`, HISTORY[by], values);
    return rows.length > 0 || (await this.isKnown(accountId)) ? rows : null;
  }

  async ofAll({ by, since, until, after, limit }: HistoryQuery): Promise<AccountUsagePeriod[]> {
    await this.requireCounted(OPERATORS, until);
    const place = after === null || after.start < since ? { start: since, accountId: '' } : after;
    const values = [place.start, until, limit, place.accountId];
    return this.reads.query(OPERATORS, `usage of all by ${by}`, HISTORY_OF_ALL[by], values);
  }

  private async isKnown(accountId: string): Promise<boolean> {
    const [row] = await this.reads.query<{ isKnown: boolean }>(accountId, 'is known', IS_KNOWN, [accountId]);
    return row?.isKnown === true;
  }

  private async hasUncounted(reader: string, counted: string, end: string): Promise<boolean> {
    const values = [counted, end];
    const [row] = await this.reads.query<{ hasUncounted: boolean }>(reader, 'uncounted', HAS_UNCOUNTED, values);
    return row?.hasUncounted === true;
  }

  /** The running hour may lag. An hour that is over must not be taken for complete before it is. */
  private async requireCounted(reader: string, until: Date): Promise<void> {
    const [row] = await this.reads.query<Progress>(reader, 'progress of usage', PROGRESS, []);
    const { counted = '', now = new Date(), isStuck = false } = row ?? {};
    const due = now.getTime() - GRACE_MS;
    const end = lowestId('msg', new Date(Math.min(until.getTime(), due - (due % PERIOD_MS.hour))));
    if (!isStuck && (counted >= end || !(await this.hasUncounted(reader, counted, end)))) return;
    const detail = 'Messages of hours that are over are being counted. Retry later, or with an earlier until.';
    throw new RetryLaterError('unavailable', detail, RETRY_AFTER_SECONDS);
  }
}

function latest(one: Date, other: Date): Date {
  return one > other ? one : other;
}
