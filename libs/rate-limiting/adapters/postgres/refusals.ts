import { LRUCache } from 'lru-cache';
import type { Hit, RefusingVerdict } from '../../plan-throttler-storage.js';
import { refusedForMs, windowsOf, type HitResult } from './take-hits.js';

/** A refusal from memory is this many milliseconds old at most. */
const RECHECK_MS = 900;
/** Strikes that no look at the store has taken along for so long are handed over by themselves. */
const OVERDUE_MS = 950;
const MAX_ACCOUNTS = 100_000;

/** Strikes of a key that the store doesn't know of yet. */
export interface Strikes {
  readonly accountId: string;
  readonly keyId: string;
  readonly count: number;
}

interface KeyRecord {
  readonly accountId: string;
  readonly keyId: string;
  /** Refusals count as strikes from then on. */
  strikesFrom: number;
  /** Until when that holds: the end of the window whose refusal the store has seen. */
  settledUntil: number;
  /** Strikes that the store knows of, and those that it doesn't yet. */
  strikes: number;
  pending: number;
  pendingSince: number;
  bannedUntil: number;
  recheckAt: number;
}

interface AccountRecord {
  result: HitResult;
  /** What is remembered holds only for this epoch of the account. */
  epoch: number;
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
  private readonly owing = new Set<KeyRecord>();

  /** The answer to a hit if it need not be asked for; null if it must. */
  recall({ accountId, keyId, epoch, count }: Hit, now: number): RefusingVerdict | null {
    const account = this.accounts.get(accountId);
    if (account?.epoch !== epoch || count !== 1) return null;
    const key = account.keys.get(keyId);
    if (key !== undefined && key.bannedUntil > now) {
      if (now >= key.recheckAt) return null;
      return { kind: 'banned', windows: this.windows(account, now), retryInMs: key.bannedUntil - now };
    }
    if (account.refusedUntil <= now) return null;
    // The first refusal of a key in a window is the store's: it begins the grace.
    if (key === undefined || key.settledUntil <= now) return null;
    if (now >= account.recheckAt) return null;
    if (now >= key.strikesFrom) {
      // The strike that brings the ban must be told of it, so the store decides over it.
      if (key.strikes + key.pending + 1 >= account.result.ban_after) return null;
      if (key.pending++ === 0) key.pendingSince = now;
      this.owing.add(key);
    }
    return { kind: 'refused', windows: this.windows(account, now), retryInMs: account.refusedUntil - now };
  }

  /** Takes note that the store is being asked: until it answers, others need not ask as well. */
  noteAsked({ accountId, keyId }: Hit, now: number): void {
    const account = this.accounts.peek(accountId);
    const key = account?.keys.get(keyId);
    if (account === undefined || key === undefined) return;
    account.recheckAt = now + RECHECK_MS;
    key.recheckAt = now + RECHECK_MS;
  }

  /** Takes what the keys of an account owe. */
  takeStrikes(accountId: string): Strikes[] {
    const keys = this.accounts.peek(accountId)?.keys.values() ?? [];
    return [...keys].filter(({ pending }) => pending > 0).map((key) => this.takeFrom(key));
  }

  /** Takes what has been owed for too long. */
  takeOverdue(now: number): Strikes[] {
    return [...this.owing]
      .filter(({ pendingSince }) => now >= pendingSince + OVERDUE_MS)
      .map((key) => this.takeFrom(key));
  }

  /** Takes what is owed by anybody. */
  takeAll(): Strikes[] {
    return this.takeOverdue(Infinity);
  }

  /** Takes note of what the store said to a hit, and whether it refused some of it. */
  note({ accountId, keyId, epoch }: Hit, result: HitResult, refused: boolean, now: number): void {
    let account = this.accounts.get(accountId);
    if (account === undefined) {
      account = { result, epoch, toldAt: now, refusedUntil: 0, recheckAt: 0, keys: new Map() };
      this.accounts.set(accountId, account);
    }
    account.result = result;
    account.epoch = epoch;
    account.toldAt = now;
    account.refusedUntil = now + refusedForMs(result, 1);
    if (account.refusedUntil === now && result.ban_left_ms === 0 && account.keys.size === 0) return;
    account.recheckAt = now + RECHECK_MS;
    const key = account.keys.get(keyId) ?? newKey(accountId, keyId);
    account.keys.set(keyId, key);
    if (refused) key.settledUntil = account.refusedUntil;
    this.noteStrikes(key, result, now);
  }

  /** Takes note of what the store said to strikes that were handed over. */
  noteHandedOver({ accountId, keyId }: Pick<Hit, 'accountId' | 'keyId'>, result: HitResult, now: number): void {
    const key = this.accounts.peek(accountId)?.keys.get(keyId);
    if (key !== undefined) this.noteStrikes(key, result, now);
  }

  lastTold(accountId: string, now: number) {
    const account = this.accounts.get(accountId);
    return account === undefined ? null : this.windows(account, now);
  }

  private noteStrikes(key: KeyRecord, result: HitResult, now: number): void {
    key.strikesFrom = now + result.strikes_in_ms;
    key.strikes = result.strikes;
    key.bannedUntil = now + result.ban_left_ms;
    key.recheckAt = now + RECHECK_MS;
  }

  private takeFrom(key: KeyRecord): Strikes {
    const { accountId, keyId, pending: count } = key;
    key.strikes += count;
    key.pending = 0;
    this.owing.delete(key);
    return { accountId, keyId, count };
  }

  private windows(account: AccountRecord, now: number) {
    return windowsOf(account.result, 0, now - account.toldAt);
  }
}

function newKey(accountId: string, keyId: string): KeyRecord {
  const times = { strikesFrom: 0, settledUntil: 0, pendingSince: 0, bannedUntil: 0, recheckAt: 0 };
  return { accountId, keyId, ...times, strikes: 0, pending: 0 };
}
