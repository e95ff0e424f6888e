import { accountNotFound, type Account } from '../domain/account.js';
import type { Limits } from '../domain/limits.js';
import type { Plan } from '../domain/plan.js';
import type { Accounts } from './accounts.js';

/** What an operator changes; null keeps what is. */
export interface AccountChanges {
  readonly plan: Plan | null;
  readonly limits: Limits | null;
  readonly suspended: boolean | null;
}

export class ChangeAccount {
  constructor(private readonly accounts: Accounts) {}

  /**
   * The usage of the account's windows is kept.
   * @throws DomainError `account_not_found`
   * @throws ValidationError when limits are given for another plan than enterprise
   */
  async execute(id: string, { plan, limits, suspended }: AccountChanges): Promise<Account> {
    const account = await this.accounts.update(id, (before) => {
      const changed = before.changePlan(plan, limits);
      if (suspended === null) return changed;
      return suspended ? changed.suspend() : changed.resume();
    });
    if (account === null) throw accountNotFound();
    return account;
  }
}
