import type { DeliveryMode } from '#kernel/delivery-mode.js';
import { accountNotFound, type Account } from '../domain/account.js';
import type { Limits } from '#kernel/limits.js';
import type { Accounts, Actor } from './accounts.js';
import type { Plans } from './plans.js';

/** The fields to change; null leaves one as it is. Accounts change only their delivery mode; the rest is for operators. */
export interface AccountChanges {
  /** Its name. */
  readonly plan: string | null;
  readonly limits: Limits | null;
  readonly suspended: boolean | null;
  readonly delivery: DeliveryMode | null;
}

export class ChangeAccount {
  constructor(
    private readonly accounts: Accounts,
    private readonly plans: Plans,
  ) {}

  /**
   * The usage of the account's windows is kept.
   * @returns the account as it was and as it is now
   * @throws DomainError `account_not_found`
   * @throws ValidationError when the plan does not exist, or when limits are given and it has its own
   */
  async execute(
    id: string,
    { plan, limits, suspended, delivery }: AccountChanges,
    by: Actor,
  ): Promise<Readonly<Record<'before' | 'after', Account>>> {
    const chosen = plan === null ? null : await this.plans.require(plan);
    let former = null as Account | null;
    const change = async (before: Account) => {
      former = before;
      const next = chosen ?? (limits === null ? null : await this.plans.require(before.plan));
      const planned = next === null ? before : before.changePlan(next, limits);
      const changed = delivery === null ? planned : planned.changeDelivery(delivery);
      if (suspended === null) return changed;
      return suspended ? changed.suspend() : changed.resume();
    };
    const after = await this.accounts.update(id, change, by);
    if (after === null || former === null) throw accountNotFound();
    return { before: former, after };
  }
}
