import { LRUCache } from 'lru-cache';
import { atMost } from '#kernel/cache-size.js';
import type { RateLimitWindow } from '#kernel/rate-limit-window.js';
import { refusedForMs, type HitOutcome } from '../domain/decide-hit.js';
import type { Hit, RefusingVerdict } from './limiter.js';
import { windowsOf } from './verdicts.js';

/** How long the outcome of the store is used, in milliseconds, and then while the store decides one hit. */
const RECHECK_MS = 900;
/** Later than this, in milliseconds, the caller has paused: the outcome may be of any age, so the store decides all hits. */
const PAUSE_MS = 100;
/** Strikes are overdue when no request to the store has carried them for this long, in milliseconds. */
const OVERDUE_MS = 950;
const MAX_ACCOUNTS = 100_000;

/** Strikes of a key that the store doesn't know yet. */
export interface Strikes {
  readonly accountId: string;
  readonly keyId: string;
  readonly count: number;
}

interface CachedKey {
  readonly accountId: string;
  readonly keyId: string;
  /** Refusals are strikes from then on, until the end of the window that the store has refused the key in. */
  strikesFrom: number;
  strikesUntil: number;
  /** Strikes that are stored, and strikes that are not stored yet. */
  strikes: number;
  pending: number;
  pendingSince: number;
  bannedUntil: number;
  recheckAt: number;
}

interface CachedAccount {
  outcome: HitOutcome;
  decidedAt: number;
  /** The outcome holds only for this epoch of the account. */
  epoch: number;
  refusedUntil: number;
  recheckAt: number;
  /** Keys that are banned or were refused in a window that has not ended. Most accounts have none. */
  keys: Map<string, CachedKey> | null;
}

/**
 * The refusals that this process knows, so that a flood of refused requests costs the store one call a second. It counts
 * strikes meanwhile, which go to the store with that call. Times are milliseconds of one monotonic clock.
 */
export class RefusalCache {
  private readonly accounts = new LRUCache<string, CachedAccount>(atMost(MAX_ACCOUNTS));
  private readonly pending = new Set<CachedKey>();

  /** The refusal of a hit; null when the store must decide. */
  recall({ accountId, keyId, epoch, count, retried = count }: Hit, now: number): RefusingVerdict | null {
    const account = this.accounts.get(accountId);
    if (account?.epoch !== epoch || retried !== 1) return null;
    const key = account.keys?.get(keyId);
    if (key !== undefined && key.bannedUntil > now) {
      if (now >= key.recheckAt) return null;
      return { kind: 'banned', windows: lastWindows(account), retryInMs: key.bannedUntil - now };
    }
    if (account.refusedUntil <= now) return null;
    // The store decides the first refusal of a key in a window, which begins the grace.
    if (key === undefined || key.strikesUntil <= now) return null;
    if (now >= account.recheckAt) return null;
    if (now >= key.strikesFrom) {
      // The response to the strike that causes the ban reports the ban, so the store decides it.
      if (key.strikes + key.pending + 1 >= account.outcome.banAfter) return null;
      if (key.pending++ === 0) key.pendingSince = now;
      this.pending.add(key);
    }
    return { kind: 'refused', windows: lastWindows(account), retryInMs: account.refusedUntil - now };
  }

  /** Records that the store is deciding a hit: other hits need not wait for it as well, unless the outcome is old. */
  startRecheck(hit: Hit, now: number): void {
    for (const known of this.knownOf(hit)) if (now < known.recheckAt + PAUSE_MS) known.recheckAt = now + RECHECK_MS;
  }

  /** Records that the store has not decided it, because it was stale: nothing is known to be as it was. */
  abandonRecheck(hit: Hit): void {
    for (const known of this.knownOf(hit)) known.recheckAt = 0;
  }

  /** Removes the pending strikes of an account, to be reported to the store. */
  takeStrikes(accountId: string): Strikes[] {
    if (this.pending.size === 0) return [];
    const keys = this.accounts.peek(accountId)?.keys?.values() ?? [];
    return [...keys].filter(({ pending }) => pending > 0).map((key) => this.takeFrom(key));
  }

  takeOverdueStrikes(now: number): Strikes[] {
    return [...this.pending]
      .filter(({ pendingSince }) => now >= pendingSince + OVERDUE_MS)
      .map((key) => this.takeFrom(key));
  }

  takeAllStrikes(): Strikes[] {
    return this.takeOverdueStrikes(Infinity);
  }

  /** Records the outcome of a hit, and whether some of it was refused. */
  update({ accountId, keyId, epoch }: Hit, outcome: HitOutcome, refused: boolean, now: number): void {
    let account = this.accounts.get(accountId);
    if (account === undefined) {
      account = { outcome, decidedAt: now, epoch, refusedUntil: 0, recheckAt: 0, keys: null };
      this.accounts.set(accountId, account);
    }
    account.outcome = outcome;
    account.decidedAt = now;
    account.epoch = epoch;
    account.refusedUntil = now + refusedForMs(outcome, 1);
    account.recheckAt = now + RECHECK_MS;
    let key = account.keys?.get(keyId);
    if (key === undefined) {
      if (!refused && outcome.banLeftMs === 0) return;
      account.keys ??= new Map();
      for (const known of account.keys.values()) if (hasEnded(known, now)) account.keys.delete(known.keyId);
      key = newKey(accountId, keyId);
      account.keys.set(keyId, key);
    }
    if (refused) key.strikesUntil = account.refusedUntil;
    updateKey(key, outcome, now);
  }

  /** Records the outcome of strikes that were reported without a hit. */
  updateKey({ accountId, keyId }: Pick<Hit, 'accountId' | 'keyId'>, outcome: HitOutcome, now: number): void {
    const key = this.accounts.peek(accountId)?.keys?.get(keyId);
    if (key !== undefined) updateKey(key, outcome, now);
  }

  lastKnownWindows(accountId: string): RateLimitWindow[] | null {
    const account = this.accounts.get(accountId);
    return account === undefined ? null : lastWindows(account);
  }

  private knownOf({ accountId, keyId }: Hit): Pick<CachedAccount, 'recheckAt'>[] {
    const account = this.accounts.peek(accountId);
    const key = account?.keys?.get(keyId);
    return account === undefined || key === undefined ? [] : [account, key];
  }

  private takeFrom(key: CachedKey): Strikes {
    const { accountId, keyId, pending: count } = key;
    key.strikes += count;
    key.pending = 0;
    this.pending.delete(key);
    return { accountId, keyId, count };
  }
}

function newKey(accountId: string, keyId: string): CachedKey {
  const times = { strikesFrom: 0, strikesUntil: 0, pendingSince: 0, bannedUntil: 0, recheckAt: 0 };
  return { accountId, keyId, ...times, strikes: 0, pending: 0 };
}

function hasEnded({ strikesUntil, bannedUntil, pending }: CachedKey, now: number): boolean {
  return strikesUntil <= now && bannedUntil <= now && pending === 0;
}

function updateKey(key: CachedKey, outcome: HitOutcome, now: number): void {
  key.strikesFrom = now + outcome.strikesInMs;
  key.strikes = outcome.strikes;
  key.bannedUntil = now + outcome.banLeftMs;
  key.recheckAt = now + RECHECK_MS;
}

function lastWindows({ outcome, decidedAt }: CachedAccount): RateLimitWindow[] {
  return windowsOf(outcome, decidedAt);
}
