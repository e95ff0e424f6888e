import type { Account } from '../domain/account.js';
import type { ApiKey } from '../domain/api-key.js';

export interface Page {
  readonly limit: number;
  /** Only what is older than the one with this id. */
  readonly before: string | null;
}

/** A key as it was at one moment. */
export interface FoundKey {
  readonly key: ApiKey;
  /** The account's epoch at that moment. It grows with every change of the account or of one of its keys. */
  readonly epoch: number;
}

/**
 * Where accounts and their keys are kept. Whatever changes what a key may do also moves its account's epoch, in the
 * same transaction, so that nobody can act on what was known before.
 */
export abstract class Accounts {
  /** Stores an account with its first key, both or neither. `hash` is the keyed hash of that key. */
  abstract add(account: Account, key: ApiKey, hash: Buffer): Promise<void>;

  abstract find(id: string): Promise<Account | null>;

  /** Newest first. */
  abstract list(page: Page): Promise<Account[]>;

  /**
   * Changes an account's plan and limits, one change after the other: none is made from what another is just replacing.
   * @param change makes the new state from the old one; nothing changes when it throws
   * @returns the account as it now is; null when there is none
   */
  abstract update(id: string, change: (account: Account) => Account): Promise<Account | null>;

  /** The key with this hash, unless it is unknown or revoked. Expiry is for the caller to check, at its own time. */
  abstract findKey(hash: Buffer): Promise<FoundKey | null>;

  /** Keys that are not revoked, newest first. */
  abstract listKeys(accountId: string, page: Page): Promise<ApiKey[]>;

  /**
   * Adds a key, unless the account has as many live ones as it may: neither revoked nor expired.
   * @returns false when it has
   */
  abstract addKey(key: ApiKey, hash: Buffer): Promise<boolean>;

  /** @returns false when the account has no such key, or it is revoked already */
  abstract revokeKey(accountId: string, keyId: string, at: Date): Promise<boolean>;

  /**
   * Puts a new key in the place of an old one, which ends at `endsAt`, or earlier if it would have expired.
   * @param successor makes the new key from the old one; nothing changes when it throws
   * @returns null when the account has no such live key; false when it has too many for both to live
   */
  abstract replaceKey(
    accountId: string,
    keyId: string,
    at: Date,
    endsAt: Date,
    hash: Buffer,
    successor: (old: ApiKey) => ApiKey,
  ): Promise<ApiKey | false | null>;

  /** Notes when keys were last used; earlier times than those known are ignored. */
  abstract saveLastUses(uses: ReadonlyMap<string, Date>): Promise<void>;
}
