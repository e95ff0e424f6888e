import type { Account } from '../domain/account.js';
import type { ApiKey } from '../domain/api-key.js';

/** Where accounts and their keys are kept. */
export abstract class Accounts {
  /** Stores an account with its first key, both or neither. `hash` is the keyed hash of that key. */
  abstract add(account: Account, key: ApiKey, hash: Buffer): Promise<void>;

  /** The key with this hash, unless it is unknown or revoked. Expiry is for the caller to check, at its own time. */
  abstract findKey(hash: Buffer): Promise<ApiKey | null>;
}
