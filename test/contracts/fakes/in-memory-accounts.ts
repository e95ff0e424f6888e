import { Accounts, type FoundKey } from '#accounts/application/accounts.js';
import type { Account } from '#accounts/domain/account.js';
import type { ApiKey } from '#accounts/domain/api-key.js';

/** What unit tests of the use cases need of the accounts. */
export class InMemoryAccounts extends Accounts {
  readonly accounts = new Map<string, Account>();
  /** What `noteUse` was told, call by call. */
  readonly uses: ReadonlyMap<string, Date>[] = [];
  private readonly keys = new Map<string, ApiKey>();
  private epoch = 0;

  find = notNeeded;
  list = notNeeded;
  update = notNeeded;
  listKeys = notNeeded;
  addKey = notNeeded;
  revokeKey = notNeeded;
  replaceKey = notNeeded;

  add(account: Account, key: ApiKey, hash: Buffer): Promise<void> {
    this.accounts.set(account.id, account);
    this.keys.set(hash.toString('hex'), key);
    return Promise.resolve();
  }

  findKey(hash: Buffer): Promise<FoundKey | null> {
    const key = this.keys.get(hash.toString('hex'));
    return Promise.resolve(key === undefined ? null : { key, epoch: this.epoch });
  }

  noteUse(uses: ReadonlyMap<string, Date>): Promise<void> {
    this.uses.push(uses);
    return Promise.resolve();
  }

  /** Something about the account changes, as another process might do it. */
  change(): void {
    this.epoch++;
  }

  revoke(keyId: string): void {
    for (const [hash, { id }] of this.keys) if (id === keyId) this.keys.delete(hash);
    this.change();
  }
}

function notNeeded(): Promise<never> {
  return Promise.reject(new Error('No unit test asks for this.'));
}
