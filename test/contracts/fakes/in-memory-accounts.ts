import { Accounts, type FoundKey, type Page } from '#accounts/application/accounts.js';
import type { Account } from '#accounts/domain/account.js';
import { MAX_KEYS, type ApiKey } from '#accounts/domain/api-key.js';

interface StoredKey {
  key: ApiKey;
  readonly hash: string;
  revoked: boolean;
}

/** For unit tests of the use cases. It passes the same contract tests as PostgresAccounts. */
export class InMemoryAccounts extends Accounts {
  readonly accounts = new Map<string, Account>();
  /** The arguments of `saveLastUses`, call by call. */
  readonly uses: ReadonlyMap<string, Date>[] = [];
  private readonly keys: StoredKey[] = [];
  private readonly epochs = new Map<string, number>();

  add(account: Account, key: ApiKey, hash: Buffer): Promise<void> {
    if (this.stored(hash) !== undefined) return Promise.reject(new Error('duplicate key'));
    this.accounts.set(account.id, account);
    this.epochs.set(account.id, 0);
    this.put(key, hash);
    return Promise.resolve();
  }

  find(id: string): Promise<Account | null> {
    return Promise.resolve(this.accounts.get(id) ?? null);
  }

  list(page: Page): Promise<Account[]> {
    return Promise.resolve(pageOf([...this.accounts.values()], page));
  }

  update(id: string, change: (account: Account) => Account): Promise<Account | null> {
    return Promise.resolve().then(() => {
      const account = this.accounts.get(id);
      if (account === undefined) return null;
      const changed = change(account);
      this.accounts.set(id, changed);
      this.change(id);
      return changed;
    });
  }

  findKey(hash: Buffer): Promise<FoundKey | null> {
    const found = this.stored(hash);
    if (found === undefined || found.revoked) return Promise.resolve(null);
    return Promise.resolve({ key: found.key, epoch: this.epochs.get(found.key.accountId) ?? 0 });
  }

  listKeys(accountId: string, page: Page): Promise<ApiKey[]> {
    return Promise.resolve(pageOf(this.keysOf(accountId), page));
  }

  addKey(key: ApiKey, hash: Buffer): Promise<boolean> {
    if (this.live(key.accountId, key.createdAt).length >= MAX_KEYS) return Promise.resolve(false);
    this.put(key, hash);
    return Promise.resolve(true);
  }

  revokeKey(accountId: string, keyId: string): Promise<boolean> {
    const found = this.keys.find(({ key, revoked }) => key.accountId === accountId && key.id === keyId && !revoked);
    if (found === undefined) return Promise.resolve(false);
    found.revoked = true;
    this.change(accountId);
    return Promise.resolve(true);
  }

  async replaceKey(
    accountId: string,
    keyId: string,
    at: Date,
    endsAt: Date,
    hash: Buffer,
    successor: (old: ApiKey) => ApiKey,
  ): Promise<ApiKey | false | null> {
    const live = this.live(accountId, at);
    const old = live.find(({ id }) => id === keyId);
    if (old === undefined) return null;
    if (endsAt > at && live.length >= MAX_KEYS) return false;
    const key = successor(old);
    if (endsAt > at) {
      const earlier = old.expiresAt !== null && old.expiresAt < endsAt;
      this.amend(keyId, { expiresAt: earlier ? old.expiresAt : endsAt });
      this.change(accountId);
    } else await this.revokeKey(accountId, keyId);
    this.put(key, hash);
    return key;
  }

  saveLastUses(uses: ReadonlyMap<string, Date>): Promise<void> {
    this.uses.push(uses);
    for (const { key } of this.keys) {
      const at = uses.get(key.id);
      if (at !== undefined && (key.lastUsedAt === null || key.lastUsedAt < at)) this.amend(key.id, { lastUsedAt: at });
    }
    return Promise.resolve();
  }

  /** Moves the epoch of an account, as a change by another process would. */
  change(accountId: string): void {
    this.epochs.set(accountId, (this.epochs.get(accountId) ?? 0) + 1);
  }

  private put(key: ApiKey, hash: Buffer): void {
    this.keys.push({ key, hash: hash.toString('hex'), revoked: false });
  }

  private amend(keyId: string, change: Partial<ApiKey>): void {
    for (const stored of this.keys) if (stored.key.id === keyId) stored.key = { ...stored.key, ...change };
  }

  private stored(hash: Buffer): StoredKey | undefined {
    return this.keys.find((stored) => stored.hash === hash.toString('hex'));
  }

  private keysOf(accountId: string): ApiKey[] {
    return this.keys.filter(({ key, revoked }) => key.accountId === accountId && !revoked).map(({ key }) => key);
  }

  private live(accountId: string, at: Date): ApiKey[] {
    return this.keysOf(accountId).filter(({ expiresAt }) => expiresAt === null || expiresAt > at);
  }
}

function pageOf<T extends { readonly id: string }>(all: readonly T[], { limit, before }: Page): T[] {
  const newestFirst = all.toSorted((one, other) => (one.id < other.id ? 1 : -1));
  return newestFirst.filter(({ id }) => before === null || id < before).slice(0, limit);
}
