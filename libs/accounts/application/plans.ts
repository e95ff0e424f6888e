import { DomainError } from '#kernel/domain-error.js';
import type { Account } from '../domain/account.js';
import type { Limits } from '../domain/limits.js';
import type { Plan } from '../domain/plan.js';
import type { Accounts, Page } from './accounts.js';

export class GetAccount {
  constructor(private readonly accounts: Accounts) {}

  /** @throws DomainError `account_not_found` */
  async execute(id: string): Promise<Account> {
    return found(await this.accounts.find(id));
  }
}

export class ListAccounts {
  constructor(private readonly accounts: Accounts) {}

  /** Newest first. */
  execute(page: Page): Promise<Account[]> {
    return this.accounts.list(page);
  }
}

export class ChangePlan {
  constructor(private readonly accounts: Accounts) {}

  /**
   * Changes an account's plan, its individual limits, or both; what was used of its windows stays used.
   * @throws DomainError `account_not_found`
   * @throws ValidationError when limits are given for another plan than enterprise
   */
  async execute(id: string, plan: Plan | null, limits: Limits | null): Promise<Account> {
    return found(await this.accounts.update(id, (account) => account.changePlan(plan, limits)));
  }
}

function found(account: Account | null): Account {
  if (account === null) throw new DomainError('account_not_found', 'There is no account with this id.');
  return account;
}
