import type { DeliveryMode } from '#kernel/delivery-mode.js';
import { accountNotFound, type Account } from '../domain/account.js';
import type { Limits } from '#kernel/limits.js';
import type { Plan } from '../domain/plan.js';
import type { Accounts, Actor } from './accounts.js';

/** The fields to change; null leaves one as it is. Accounts change `delivery` and `paused`; the rest is for operators. */
export interface AccountChanges {
  readonly plan: Plan | null;
  readonly limits: Limits | null;
  readonly suspended: boolean | null;
  readonly delivery: DeliveryMode | null;
  readonly paused: boolean | null;
}

export class ChangeAccount {
  constructor(private readonly accounts: Accounts) {}

  /**
   * The usage of the account's windows is kept.
   * @throws DomainError `account_not_found`
   * @throws ValidationError when limits are given for another plan than enterprise
   */
  async execute(
    id: string,
    { plan, limits, suspended, delivery, paused }: AccountChanges,
    by: Actor,
  ): Promise<Account> {
    const change = (before: Account) => {
      let changed = before.changePlan(plan, limits);
      if (delivery !== null) changed = changed.changeDelivery(delivery);
      if (paused !== null) changed = paused ? changed.pause() : changed.unpause();
      if (suspended !== null) changed = suspended ? changed.suspend() : changed.resume();
      return changed;
    };
    const account = await this.accounts.update(id, change, by);
    if (account === null) throw accountNotFound();
    return account;
  }
}
