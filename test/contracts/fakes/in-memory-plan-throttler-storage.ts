import type { RateLimitWindow } from '#platform/http/rate-limit-headers.js';
import { PlanThrottlerStorage, type Hit, type Usage, type Verdict } from '#rate-limiting/plan-throttler-storage.js';
import { take, UNUSED, WINDOW_MS, type Windows } from '#rate-limiting/windows.js';

interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

export interface LimitedAccount {
  limits: Limits;
  epoch: number;
  windows: Windows;
}

interface Offence {
  /** The end of the window that has refused the key, and from when on its refusals are strikes. */
  windowEndsAt: number;
  strikesFrom: number;
  strikes: number;
  strikesEndAt: number;
  bans: number;
  bannedAt: number;
  bannedUntil: number;
}

interface BanPolicy {
  readonly graceMs: number;
  readonly afterRefusals: number;
  readonly banMs: number;
  readonly maxBanMs: number;
}

/** What the processes of a test share in place of a database. */
export class InMemoryLimits {
  readonly accounts = new Map<string, LimitedAccount>();
  readonly offences = new Map<string, Offence>();
}

/** The shortest limiter there can be: JavaScript runs one thing at a time, so each hit is one atomic step. */
export class InMemoryPlanThrottlerStorage extends PlanThrottlerStorage {
  private readonly told = new Map<string, readonly RateLimitWindow[]>();

  constructor(
    private readonly limits: InMemoryLimits,
    private readonly policy: BanPolicy,
    private readonly now: () => number = Date.now,
  ) {
    super();
  }

  /** It remembers nothing that it would not look at again. */
  recall(): null {
    return null;
  }

  hit({ accountId, keyId, epoch, count }: Hit): Promise<Verdict> {
    const account = this.limits.accounts.get(accountId);
    if (account?.epoch !== epoch) return Promise.resolve({ kind: 'stale' });
    const at = this.now();
    const offence = this.limits.offences.get(keyId);
    if (offence !== undefined && offence.bannedUntil > at) {
      return this.tell(accountId, 'banned', windowsOf(account, at), offence.bannedUntil - at);
    }
    const { admitted, windows } = take(account.windows, account.limits, count, at, true);
    account.windows = windows;
    if (admitted === count) return this.tell(accountId, 'admitted', windowsOf(account, at));
    // Nothing remains for it in the windows that refuse it.
    const told = windowsOf(account, at).map((one) => (one.remaining < count ? { ...one, remaining: 0 } : one));
    const retryInMs = Math.max(...told.filter(({ remaining }) => remaining === 0).map(({ resetsInMs }) => resetsInMs));
    const bannedForMs = this.strike(keyId, account, at + retryInMs, at);
    return this.tell(accountId, bannedForMs > 0 ? 'banned' : 'refused', told, bannedForMs || retryInMs);
  }

  usage(accountId: string): Promise<Usage> {
    const account = this.limits.accounts.get(accountId);
    if (account === undefined) return Promise.reject(new Error('There is no such account.'));
    const at = this.now();
    const { windows } = take(account.windows, account.limits, 0, at);
    return Promise.resolve({ limits: account.limits, windows, at });
  }

  lastKnownWindows(accountId: string): readonly RateLimitWindow[] | null {
    return this.told.get(accountId) ?? null;
  }

  deleteExpired(): Promise<void> {
    for (const account of this.limits.accounts.values()) {
      if (account.windows.day.endsAt <= this.now() - WINDOW_MS.day) account.windows = UNUSED;
    }
    return Promise.resolve();
  }

  /** @returns milliseconds of the ban that the refusal brings, 0 for none */
  private strike(keyId: string, { limits }: LimitedAccount, windowEndsAt: number, at: number): number {
    const offence = this.limits.offences.get(keyId) ?? {
      ...{ windowEndsAt: 0, strikesFrom: 0, strikes: 0, strikesEndAt: 0 },
      ...{ bans: 0, bannedAt: -Infinity, bannedUntil: 0 },
    };
    this.limits.offences.set(keyId, offence);
    if (offence.windowEndsAt !== windowEndsAt) {
      offence.windowEndsAt = windowEndsAt;
      offence.strikesFrom = at + this.policy.graceMs;
    }
    if (at < offence.strikesFrom) return 0;
    if (offence.strikesEndAt <= at) {
      offence.strikes = 0;
      offence.strikesEndAt = at + WINDOW_MS.minute;
    }
    if (++offence.strikes < Math.max(this.policy.afterRefusals, Math.floor(limits.perMinute / 10))) return 0;
    offence.bans = offence.bannedAt > at - WINDOW_MS.day ? offence.bans + 1 : 1;
    const forMs = Math.min(this.policy.banMs * 2 ** (offence.bans - 1), this.policy.maxBanMs);
    offence.strikes = 0;
    offence.bannedAt = at;
    offence.bannedUntil = at + forMs;
    return forMs;
  }

  private tell(
    accountId: string,
    kind: 'admitted' | 'refused' | 'banned',
    windows: readonly RateLimitWindow[],
    retryInMs = 0,
  ): Promise<Verdict> {
    this.told.set(accountId, windows);
    return Promise.resolve(kind === 'admitted' ? { kind, windows } : { kind, windows, retryInMs });
  }
}

function windowsOf({ windows, limits }: LimitedAccount, at: number): RateLimitWindow[] {
  const of = (name: 'minute' | 'day', limit: number): RateLimitWindow => {
    const { used, endsAt } = take(windows, limits, 0, at).windows[name];
    const resetsInMs = endsAt === 0 ? WINDOW_MS[name] : endsAt - at;
    return { name, limit, remaining: Math.max(0, limit - used), windowSeconds: WINDOW_MS[name] / 1_000, resetsInMs };
  };
  return [of('minute', limits.perMinute), of('day', limits.perDay)];
}

/** An account that has used nothing. */
export function newAccount(limits: Limits): LimitedAccount {
  return { limits, epoch: 0, windows: UNUSED };
}
