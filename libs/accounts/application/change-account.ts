import type { DeliveryMode } from '#kernel/delivery-mode.js';
import { accountNotFound, type Account } from '../domain/account.js';
import type { Limits } from '#kernel/limits.js';
import type { Plan } from '../domain/plan.js';
import type { Accounts, Actor } from './accounts.js';

/**
 * The fields to change; one that is missing stays as it is. Accounts change `delivery` and `paused`; the rest is for
 * operators.
 */
export interface AccountChanges {
  readonly name?: string | undefined;
  readonly plan?: Plan | undefined;
  readonly limits?: Limits | undefined;
  readonly suspended?: boolean | undefined;
  readonly delivery?: DeliveryMode | undefined;
  readonly paused?: boolean | undefined;
  /** Null removes it. */
  readonly externalId?: string | null | undefined;
}

export class ChangeAccount {
  constructor(private readonly accounts: Accounts) {}

  /**
   * The usage of the account's windows is kept.
   * @throws DomainError `account_not_found`, `external_id_taken`
   * @throws ValidationError when a name or an external id is invalid, or limits are given for another plan than enterprise
   */
  async execute(id: string, changes: AccountChanges, by: Actor): Promise<Account> {
    const { name, plan, limits, suspended, delivery, paused, externalId } = changes;
    const change = (before: Account) => {
      let account = before.changePlan(plan ?? null, limits ?? null);
      if (name !== undefined) account = account.rename(name);
      if (externalId !== undefined) account = account.changeExternalId(externalId);
      if (delivery !== undefined) account = account.changeDelivery(delivery);
      if (paused !== undefined) account = paused ? account.pause() : account.unpause();
      if (suspended === undefined) return account;
      return suspended ? account.suspend() : account.resume();
    };
    const account = await this.accounts.update(id, change, by);
    if (account === null) throw accountNotFound();
    return account;
  }
}
