import type { Account } from '../domain/account.js';
import type { Page } from '#kernel/page.js';
import type { AccountFilter, Accounts } from './accounts.js';

export class ListAccounts {
  constructor(private readonly accounts: Accounts) {}

  /** Newest first. */
  execute(page: Page & AccountFilter): Promise<Account[]> {
    return this.accounts.list(page);
  }
}
