import type { DeliveryMode } from '#kernel/delivery-mode.js';
import { accountNotFound, type Account } from '../domain/account.js';
import type { Limits } from '#kernel/limits.js';
import type { Accounts, Actor } from './accounts.js';
import type { Plans } from './plans.js';

/**
 * The fields to change; one that is missing stays as it is. Accounts change `name`, `delivery` and `paused`; the rest is for
 * operators.
 */
export interface AccountChanges {
  readonly name?: string | undefined;
  /** Its name. */
  readonly plan?: string | undefined;
  readonly limits?: Limits | undefined;
  readonly suspended?: boolean | undefined;
  readonly delivery?: DeliveryMode | undefined;
  readonly paused?: boolean | undefined;
  /** Null removes it. */
  readonly externalId?: string | null | undefined;
}

export class ChangeAccount {
  constructor(
    private readonly accounts: Accounts,
    private readonly plans: Plans,
  ) {}

  /**
   * The usage of the account's windows is kept.
   * @returns the account as it was and as it is now
   * @throws DomainError `account_not_found`, `external_id_taken`
   * @throws ValidationError when a name or an external id is invalid, the plan does not exist, or limits are given and the
   * plan has its own
   */
  async execute(
    id: string,
    changes: AccountChanges,
    by: Actor,
  ): Promise<Readonly<Record<'before' | 'after', Account>>> {
    const { name, plan, limits, suspended, delivery, paused, externalId } = changes;
    const chosen = plan === undefined ? null : await this.plans.require(plan);
    let former = null as Account | null;
    const change = async (before: Account) => {
      former = before;
      const next = chosen ?? (limits === undefined ? null : await this.plans.require(before.plan));
      let account = next === null ? before : before.changePlan(next, limits ?? null);
      if (name !== undefined) account = account.rename(name);
      if (externalId !== undefined) account = account.changeExternalId(externalId);
      if (delivery !== undefined) account = account.changeDelivery(delivery);
      if (paused !== undefined) account = paused ? account.pause() : account.unpause();
      if (suspended === undefined) return account;
      return suspended ? account.suspend() : account.resume();
    };
    const after = await this.accounts.update(id, change, by);
    if (after === null || former === null) throw accountNotFound();
    return { before: former, after };
  }
}
