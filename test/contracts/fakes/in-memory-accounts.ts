import { Accounts, type FoundKey, type Page } from '#accounts/application/accounts.js';
import type { Account } from '#accounts/domain/account.js';
import { MAX_KEYS, type ApiKey } from '#accounts/domain/api-key.js';

interface StoredKey {
  key: ApiKey;
  readonly hash: Buffer;
  revoked: boolean;
}

/** For unit tests of the use cases. It passes the same contract tests as PostgresAccounts. */
export class InMemoryAccounts extends Accounts {
  readonly accounts = new Map<string, Account>();
  /** The arguments of `saveLastUses`, call by call. */
  readonly uses: ReadonlyMap<string, Date>[] = [];
  private readonly keys: StoredKey[] = [];
  private readonly epochs = new Map<string, number>();

  async add(account: Account, key: ApiKey, hash: Buffer): Promise<void> {
    if (this.stored(hash) !== undefined) return Promise.reject(new Error('duplicate key'));
    this.accounts.set(account.id, account);
    await this.addKey(key, hash);
  }

  find(id: string): Promise<Account | null> {
    return Promise.resolve(this.accounts.get(id) ?? null);
  }

  list(page: Page): Promise<Account[]> {
    return Promise.resolve(pageOf([...this.accounts.values()], page));
  }

  async update(id: string, change: (account: Account) => Account): Promise<Account | null> {
    await Promise.resolve();
    const account = this.accounts.get(id);
    if (account === undefined) return null;
    const changed = change(account);
    this.accounts.set(id, changed);
    this.change(id);
    return changed;
  }

  findKey(hash: Buffer): Promise<FoundKey | null> {
    const found = this.stored(hash);
    if (found === undefined || found.revoked) return Promise.resolve(null);
    return Promise.resolve({ key: found.key, epoch: this.epochs.get(found.key.accountId) ?? 0 });
  }

  listKeys(accountId: string, page: Page): Promise<ApiKey[]> {
    const keys = this.unrevoked(accountId).map(({ key }) => key);
    return Promise.resolve(pageOf(keys, page));
  }

  addKey(key: ApiKey, hash: Buffer): Promise<boolean> {
    const added = this.live(key.accountId, key.createdAt).length < MAX_KEYS;
    if (added) this.keys.push({ key, hash, revoked: false });
    return Promise.resolve(added);
  }

  revokeKey(accountId: string, keyId: string): Promise<boolean> {
    const found = this.unrevoked(accountId).find(({ key }) => key.id === keyId);
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
    const old = live.find(({ key }) => key.id === keyId);
    if (old === undefined) return null;
    if (endsAt > at && live.length >= MAX_KEYS) return false;
    const key = successor(old.key);
    if (endsAt > at) old.key = { ...old.key, expiresAt: earlier(old.key.expiresAt, endsAt) };
    else old.revoked = true;
    this.change(accountId);
    await this.addKey(key, hash);
    return key;
  }

  saveLastUses(uses: ReadonlyMap<string, Date>): Promise<void> {
    this.uses.push(uses);
    for (const stored of this.keys) {
      const { id, lastUsedAt } = stored.key;
      const at = uses.get(id);
      if (at !== undefined && (lastUsedAt === null || lastUsedAt < at)) stored.key = { ...stored.key, lastUsedAt: at };
    }
    return Promise.resolve();
  }

  /** Moves the epoch of an account, as a change by another process would. */
  change(accountId: string): void {
    this.epochs.set(accountId, (this.epochs.get(accountId) ?? 0) + 1);
  }

  private stored(hash: Buffer): StoredKey | undefined {
    return this.keys.find((stored) => stored.hash.equals(hash));
  }

  private unrevoked(accountId: string): StoredKey[] {
    return this.keys.filter(({ key, revoked }) => key.accountId === accountId && !revoked);
  }

  private live(accountId: string, at: Date): StoredKey[] {
    return this.unrevoked(accountId).filter(({ key }) => key.expiresAt === null || key.expiresAt > at);
  }
}

function earlier(one: Date | null, other: Date): Date {
  return one !== null && one < other ? one : other;
}

function pageOf<T extends { readonly id: string }>(all: readonly T[], { limit, before }: Page): T[] {
  const newestFirst = all.toSorted((one, other) => (one.id < other.id ? 1 : -1));
  return newestFirst.filter(({ id }) => before === null || id < before).slice(0, limit);
}
