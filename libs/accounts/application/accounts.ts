import type { DeliveryMode } from '#kernel/delivery-mode.js';
import type { Page } from '#kernel/page.js';
import type { Account } from '../domain/account.js';
import type { ApiKey } from '../domain/api-key.js';

export interface AccountFilter {
  /** Only accounts that are suspended. */
  readonly onlySuspended: boolean;
  /** Only accounts whose name contains this, in upper or lower case. */
  readonly name?: string | undefined;
  /** Only the account with this external id. */
  readonly externalId?: string | undefined;
}

/** A key as it was at one moment. */
export interface FoundKey {
  readonly key: ApiKey;
  /** The account's epoch at that moment. It grows with every change of the account or of one of its keys. */
  readonly epoch: number;
  /** Whether the account was suspended. */
  readonly suspended: boolean;
  /** The account's mode of delivery. */
  readonly delivery: DeliveryMode;
}

/** Who reads or changes something of an account. Operators do not wait behind many requests of the account itself. */
export type Actor = 'account' | 'operator';

/**
 * The store of accounts and their keys. Every change of what a key may do also moves the epoch of its account, in the
 * same transaction, so that no process uses data that it has cached before.
 */
export abstract class Accounts {
  /**
   * Stores an account with its first key, both or neither. `hash` is the keyed hash of that key.
   * @throws DomainError `external_id_taken` when another account has its external id, or `unavailable` when its plan was
   * deleted meanwhile
   */
  abstract add(account: Account, key: ApiKey, hash: Buffer): Promise<void>;

  abstract find(id: string, by: Actor): Promise<Account | null>;

  /** Newest first. */
  abstract list(page: Page & AccountFilter): Promise<Account[]>;

  /**
   * Changes an account. Concurrent changes run one after the other, each on the latest state.
   * @param change returns the new state; nothing changes when it throws
   * @returns the new state; null when there is no such account
   * @throws DomainError `external_id_taken` when another account has its external id
   */
  abstract update(
    id: string,
    change: (account: Account) => Account | Promise<Account>,
    by: Actor,
  ): Promise<Account | null>;

  /** The key with this hash, unless it is unknown or revoked. The caller must check its expiry. */
  abstract findKey(hash: Buffer): Promise<FoundKey | null>;

  /** Keys that are not revoked, newest first. */
  abstract listKeys(accountId: string, page: Page, by: Actor): Promise<ApiKey[]>;

  /**
   * Adds a key, unless the account already has MAX_KEYS live ones: neither revoked nor expired.
   * @returns whether it was added; null when there is no such account
   */
  abstract addKey(key: ApiKey, hash: Buffer, by?: Actor): Promise<boolean | null>;

  /**
   * Gives a key another secret.
   * @param old the hash that it must still have
   * @returns whether it had that hash, and was not revoked
   */
  abstract exchangeSecret(key: ApiKey, old: Buffer, hash: Buffer): Promise<boolean>;

  /** @returns false when the account has no such key, or it is already revoked */
  abstract revokeKey(accountId: string, keyId: string, at: Date, by: Actor): Promise<boolean>;

  /**
   * Replaces a key by a new one, with expiries by `rotateExpiry`.
   * @param endsAt the end of the grace of the old one; `at` for none
   * @param successor returns the new key; nothing changes when it throws
   * @returns null when the account has no such live key; false when it has MAX_KEYS and both would be live
   */
  abstract replaceKey(
    accountId: string,
    keyId: string,
    at: Date,
    endsAt: Date,
    hash: Buffer,
    successor: (old: ApiKey) => ApiKey,
  ): Promise<ApiKey | false | null>;

  /** Stores when keys were last used; times earlier than the stored ones are ignored. */
  abstract saveLastUses(uses: ReadonlyMap<string, Date>): Promise<void>;
}
