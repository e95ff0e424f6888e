import type { Account } from '../domain/account.js';
import type { Accounts, Page } from './accounts.js';

export class ListAccounts {
  constructor(private readonly accounts: Accounts) {}

  /** Newest first. */
  execute(page: Page): Promise<Account[]> {
    return this.accounts.list(page);
  }
}
