import { Accounts } from '#accounts/application/accounts.js';
import type { Account } from '#accounts/domain/account.js';
import type { ApiKey } from '#accounts/domain/api-key.js';

/** What the unit tests of AuthenticateCaller use; it keeps the contract that PostgresAccounts keeps. */
export class InMemoryAccounts extends Accounts {
  readonly accounts = new Map<string, Account>();
  private readonly keys = new Map<string, ApiKey>();

  add(account: Account, key: ApiKey, hash: Buffer): Promise<void> {
    const name = hash.toString('hex');
    if (this.keys.has(name) || this.accounts.has(account.id)) return Promise.reject(new Error('It exists already.'));
    this.accounts.set(account.id, account);
    this.keys.set(name, key);
    return Promise.resolve();
  }

  findKey(hash: Buffer): Promise<ApiKey | null> {
    return Promise.resolve(this.keys.get(hash.toString('hex')) ?? null);
  }

  revoke(keyId: string): void {
    for (const [hash, { id }] of this.keys) if (id === keyId) this.keys.delete(hash);
  }
}
