import { accountNotFound, type Account } from '../domain/account.js';
import type { Limits } from '../domain/limits.js';
import type { Plan } from '../domain/plan.js';
import type { Accounts } from './accounts.js';

export class ChangePlan {
  constructor(private readonly accounts: Accounts) {}

  /**
   * Changes the plan of an account, its individual limits, or both. The usage of its windows is kept.
   * @throws DomainError `account_not_found`
   * @throws ValidationError when limits are given for another plan than enterprise
   */
  async execute(id: string, plan: Plan | null, limits: Limits | null): Promise<Account> {
    const account = await this.accounts.update(id, (before) => before.changePlan(plan, limits));
    if (account === null) throw accountNotFound();
    return account;
  }
}
