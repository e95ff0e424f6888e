import type { Page } from '#kernel/page.js';
import { accountNotFound, type Account } from '../domain/account.js';
import type { ApiKey } from '../domain/api-key.js';
import type { AccountFilter, Accounts, Actor } from './accounts.js';
import { unauthorized } from './authenticate-caller.js';
import type { KeySecrets } from './key-secrets.js';
import type { LastUsedTracker } from './last-used-tracker.js';

/** What accounts may read of themselves, and operators of every account. */
export class ReadAccounts {
  constructor(
    private readonly accounts: Accounts,
    private readonly secrets: KeySecrets,
    private readonly lastUsed: LastUsedTracker,
  ) {}

  /** @throws DomainError `account_not_found` */
  async find(id: string, by: Actor): Promise<Account> {
    const account = await this.accounts.find(id, by);
    if (account === null) throw accountNotFound();
    return account;
  }

  /** Newest first. */
  list(page: Page & AccountFilter): Promise<Account[]> {
    return this.accounts.list(page);
  }

  /** Newest first. */
  async keys(accountId: string, page: Page, by: Actor): Promise<ApiKey[]> {
    await this.lastUsed.flush();
    return this.accounts.listKeys(accountId, page, by);
  }

  /**
   * What a client may know about the key that it has, whatever the key's scopes.
   * @throws DomainError `unauthorized` when the key was revoked in the meantime
   */
  async ownKey(key: string): Promise<ApiKey> {
    await this.lastUsed.flush();
    const hash = this.secrets.hash(key);
    const found = hash === null ? null : await this.accounts.findKey(hash);
    if (found === null) throw unauthorized();
    return found.key;
  }
}
