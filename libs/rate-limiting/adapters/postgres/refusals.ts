import { LRUCache } from 'lru-cache';
import type { Hit, Verdict } from '../../plan-throttler-storage.js';
import type { HitResult } from './take-hits.js';
import { windowsOf } from './take-hits.js';

/** A refusal from memory is this many milliseconds old at most. */
const RECHECK_MS = 900;
const MAX_ACCOUNTS = 100_000;

interface KeyRecord {
  /** Refusals count as strikes from then on. */
  strikesFrom: number;
  /** Strikes that the store knows of, and those that it doesn't yet. */
  strikes: number;
  pending: number;
  bannedUntil: number;
  recheckAt: number;
}

interface AccountRecord {
  result: HitResult;
  toldAt: number;
  refusedUntil: number;
  recheckAt: number;
  readonly keys: Map<string, KeyRecord>;
}

/**
 * What this process remembers of accounts that were refused, so that a flood of refusals costs the store one look a
 * second. It counts strikes meanwhile and hands them over with that look.
 */
export class Refusals {
  private readonly accounts = new LRUCache<string, AccountRecord>({ max: MAX_ACCOUNTS });

  constructor(private readonly graceMs: number) {}

  /** The answer to a hit if it need not be asked for; null if it must. */
  recall({ accountId, keyId, count }: Hit, now: number): Verdict | null {
    const account = this.accounts.get(accountId);
    if (account === undefined || count !== 1) return null;
    const known = account.keys.get(keyId);
    if (known !== undefined && known.bannedUntil > now) {
      if (now >= known.recheckAt) {
        known.recheckAt = now + RECHECK_MS;
        return null;
      }
      return { kind: 'banned', windows: this.windows(account, now), retryInMs: known.bannedUntil - now };
    }
    if (account.refusedUntil <= now) return null;
    if (now >= account.recheckAt) {
      account.recheckAt = now + RECHECK_MS;
      return null;
    }
    const key = known ?? this.keyOf(account, keyId, now + this.graceMs);
    if (now >= key.strikesFrom) {
      // The strike that brings the ban must be told of it, so the store decides over it.
      if (key.strikes + key.pending + 1 >= account.result.ban_after) return null;
      key.pending++;
    }
    return { kind: 'refused', windows: this.windows(account, now), retryInMs: account.refusedUntil - now };
  }

  /** Takes a key's strikes that the store doesn't know of yet. */
  takePending(accountId: string, keyId: string): number {
    const key = this.accounts.get(accountId)?.keys.get(keyId);
    if (key === undefined) return 0;
    const { pending } = key;
    key.pending = 0;
    key.strikes += pending;
    return pending;
  }

  /** All keys with such strikes. */
  withPending(): { accountId: string; keyId: string }[] {
    const found: { accountId: string; keyId: string }[] = [];
    for (const [accountId, { keys }] of this.accounts.entries()) {
      for (const [keyId, { pending }] of keys) if (pending > 0) found.push({ accountId, keyId });
    }
    return found;
  }

  /** Takes note of what the store said. `refusedForMs` is 0 when nothing was refused, null when nothing was asked. */
  note({ accountId, keyId }: Hit, result: HitResult, refusedForMs: number | null, now: number): void {
    let account = this.accounts.get(accountId);
    if (account === undefined) {
      account = { result, toldAt: now, refusedUntil: 0, recheckAt: 0, keys: new Map() };
      this.accounts.set(accountId, account);
    }
    account.result = result;
    account.toldAt = now;
    if (refusedForMs !== null) account.refusedUntil = now + refusedForMs;
    if (refusedForMs === 0 && result.ban_left_ms === 0 && account.keys.size === 0) return;
    account.recheckAt = now + RECHECK_MS;
    const key = account.keys.get(keyId) ?? this.keyOf(account, keyId, 0);
    key.strikesFrom = now + result.strikes_in_ms;
    key.strikes = result.strikes;
    key.bannedUntil = now + result.ban_left_ms;
    key.recheckAt = now + RECHECK_MS;
  }

  /** Forgets that an account was refused, since something about it has changed; strikes that were taken come back. */
  doubt({ accountId, keyId }: Hit, strikes: number): void {
    const account = this.accounts.get(accountId);
    if (account === undefined) return;
    account.refusedUntil = 0;
    const key = account.keys.get(keyId);
    if (key === undefined) return;
    key.bannedUntil = 0;
    key.strikes -= strikes;
    key.pending += strikes;
  }

  lastTold(accountId: string, now: number) {
    const account = this.accounts.get(accountId);
    return account === undefined ? null : this.windows(account, now);
  }

  private windows(account: AccountRecord, now: number) {
    return windowsOf(account.result, 0, now - account.toldAt);
  }

  private keyOf(account: AccountRecord, keyId: string, strikesFrom: number): KeyRecord {
    const key = { strikesFrom, strikes: 0, pending: 0, bannedUntil: 0, recheckAt: 0 };
    account.keys.set(keyId, key);
    return key;
  }
}
