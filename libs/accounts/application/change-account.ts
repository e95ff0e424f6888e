import type { DeliveryMode } from '#kernel/delivery-mode.js';
import { accountNotFound, type Account } from '../domain/account.js';
import type { Limits } from '#kernel/limits.js';
import type { Plan } from '../domain/plan.js';
import type { Accounts, Actor } from './accounts.js';

/** The fields to change; null leaves one as it is. Accounts change only their delivery mode; the rest is for operators. */
export interface AccountChanges {
  readonly plan: Plan | null;
  readonly limits: Limits | null;
  readonly suspended: boolean | null;
  readonly delivery: DeliveryMode | null;
}

export class ChangeAccount {
  constructor(private readonly accounts: Accounts) {}

  /**
   * The usage of the account's windows is kept.
   * @throws DomainError `account_not_found`
   * @throws ValidationError when limits are given for another plan than enterprise
   */
  async execute(id: string, { plan, limits, suspended, delivery }: AccountChanges, by: Actor): Promise<Account> {
    const change = (before: Account) => {
      const planned = before.changePlan(plan, limits);
      const changed = delivery === null ? planned : planned.changeDelivery(delivery);
      if (suspended === null) return changed;
      return suspended ? changed.suspend() : changed.resume();
    };
    const account = await this.accounts.update(id, change, by);
    if (account === null) throw accountNotFound();
    return account;
  }
}
