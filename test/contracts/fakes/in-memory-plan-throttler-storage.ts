import type { RateLimitWindow } from '#platform/http/rate-limit-headers.js';
import { decideHit, type HitOutcome, type Requests } from '#rate-limiting/domain/decide-hit.js';
import type { BanPolicy, Offences } from '#rate-limiting/domain/strikes.js';
import { take, UNUSED, WINDOW_MS, type Limits, type Windows } from '#rate-limiting/domain/windows.js';
import { PlanThrottlerStorage, type Hit, type Usage, type Verdict } from '#rate-limiting/plan-throttler-storage.js';
import { verdictOf, windowsOf } from '#rate-limiting/verdicts.js';

interface LimitedAccount {
  limits: Limits;
  epoch: number;
  windows: Windows;
}

/** What the processes of a test share in place of a database. */
export class InMemoryLimits {
  readonly accounts = new Map<string, LimitedAccount>();
  readonly offences = new Map<string, Offences>();

  add(accountId: string, limits: Limits): void {
    this.accounts.set(accountId, { limits, epoch: 0, windows: UNUSED });
  }

  /** One row of `sluice.take_hits`: null when it is stale. */
  decide(hit: Omit<Hit, 'count'>, requests: Requests, policy: BanPolicy, at: number): HitOutcome | null {
    const account = this.accounts.get(hit.accountId);
    if (account === undefined || (account.epoch !== hit.epoch && hit.epoch !== -1)) return null;
    const known = { windows: account.windows, offences: this.offences.get(hit.keyId) ?? null };
    const { state, outcome } = decideHit(known, requests, account.limits, policy, at);
    account.windows = state.windows;
    if (state.offences !== null) this.offences.set(hit.keyId, state.offences);
    return outcome;
  }
}

/** The shortest limiter there can be: JavaScript runs one thing at a time, so each hit is one atomic step. */
export class InMemoryPlanThrottlerStorage extends PlanThrottlerStorage {
  private readonly seen = new Map<string, readonly RateLimitWindow[]>();

  constructor(
    private readonly limits: InMemoryLimits,
    private readonly policy: BanPolicy,
  ) {
    super();
  }

  recall(): null {
    return null;
  }

  hit(hit: Hit): Promise<Verdict> {
    const requests = { count: hit.count, whole: true, strikes: 0 };
    const outcome = this.limits.decide(hit, requests, this.policy, Date.now());
    if (outcome !== null) this.seen.set(hit.accountId, windowsOf(outcome));
    return Promise.resolve(verdictOf(outcome, 0, hit.count));
  }

  usage(accountId: string): Promise<Usage> {
    const account = this.limits.accounts.get(accountId);
    if (account === undefined) return Promise.reject(new Error('There is no such account.'));
    const at = Date.now();
    const { windows } = take(account.windows, account.limits, 0, at);
    return Promise.resolve({ limits: account.limits, windows, at });
  }

  lastKnownWindows(accountId: string): readonly RateLimitWindow[] | null {
    return this.seen.get(accountId) ?? null;
  }

  deleteExpired(): Promise<void> {
    for (const account of this.limits.accounts.values()) {
      if (account.windows.day.endsAt <= Date.now() - WINDOW_MS.day) account.windows = UNUSED;
    }
    return Promise.resolve();
  }
}
