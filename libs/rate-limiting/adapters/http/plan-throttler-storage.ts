import type { ThrottlerModuleOptions, ThrottlerStorage } from '@nestjs/throttler';
import { leftMs, seconds, tightest } from '#kernel/rate-limit-window.js';
import type { Hit, Limiter, Verdict } from '../../application/limiter.js';
import { WINDOW_MS } from '../../domain/windows.js';

type ThrottlerStorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** A verdict as a record of @nestjs/throttler, which also blocks requests that were not counted. */
interface PlanThrottlerRecord extends ThrottlerStorageRecord {
  readonly verdict: Verdict;
}

/** The storage of @nestjs/throttler: counts requests by account. Limits and windows come from the account's plan. */
export class PlanThrottlerStorage implements ThrottlerStorage {
  constructor(readonly limiter: Limiter) {}

  /** The key under which `increment` counts one request. */
  static keyOf({ accountId, keyId, epoch }: Omit<Hit, 'count'>): string {
    return `${accountId}/${keyId}/${epoch}`;
  }

  /**
   * Counts one request.
   * @param key made by `keyOf`
   */
  async increment(key: string): Promise<PlanThrottlerRecord> {
    const [accountId = '', keyId = '', epoch] = key.split('/');
    return recordOf(await this.limiter.hit({ accountId, keyId, epoch: Number(epoch), count: 1 }));
  }
}

/** The limits are those of each account, which the storage knows. */
export function throttlerOptions(limiter: Limiter): ThrottlerModuleOptions {
  return {
    throttlers: [{ name: 'plan', ttl: WINDOW_MS.minute, limit: Infinity }],
    storage: new PlanThrottlerStorage(limiter),
  };
}

function recordOf(verdict: Verdict): PlanThrottlerRecord {
  const shown = verdict.kind === 'stale' ? undefined : tightest(verdict.windows);
  return {
    totalHits: shown === undefined ? 0 : shown.limit - shown.remaining,
    timeToExpire: seconds(shown === undefined ? 0 : leftMs(shown)),
    isBlocked: verdict.kind !== 'admitted',
    timeToBlockExpire: 'retryInMs' in verdict ? seconds(verdict.retryInMs) : 0,
    verdict,
  };
}
