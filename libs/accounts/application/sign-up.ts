import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import type { Limits } from '#kernel/limits.js';
import { Account } from '../domain/account.js';
import { hintOf, SCOPES, type ApiKey } from '../domain/api-key.js';
import { planMissing, type Plan } from '../domain/plan.js';
import type { Accounts } from './accounts.js';
import type { IssuedKey } from './create-api-key.js';
import type { KeySecrets } from './key-secrets.js';
import type { Plans } from './plans.js';

export interface SignedUp extends IssuedKey {
  readonly account: Account;
}

/** Names the plan of new accounts. */
export const SIGNUP_PLAN = Symbol('plan of new accounts');

/** What only operators choose; what is missing is as for a sign-up. */
export interface NewAccount {
  /** The name of its plan. */
  readonly plan?: string | undefined;
  readonly limits?: Limits | undefined;
  readonly externalId?: string | undefined;
}

/** Creates an account with its first key, which has all scopes. */
export class SignUp {
  constructor(
    private readonly accounts: Accounts,
    private readonly plans: Plans,
    /** The plan of new accounts. */
    private readonly planName: string,
    private readonly secrets: KeySecrets,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ValidationError when the name or the external id is invalid, the plan does not exist, or limits are given and
   * the plan has its own
   * @throws DomainError `external_id_taken`, or `unavailable` when the plan of new accounts is missing
   */
  async execute(name: string, { plan, limits, externalId }: NewAccount = {}): Promise<SignedUp> {
    const at = this.clock.now();
    const chosen = plan === undefined ? await this.initialPlan() : await this.plans.require(plan);
    const account = Account.open(this.ids.next('acct', at), name, chosen, at)
      .changePlan(chosen, limits ?? null)
      .changeExternalId(externalId ?? null);
    const { key, hash } = this.secrets.issue();
    const apiKey: ApiKey = {
      id: this.ids.next('key', at),
      accountId: account.id,
      name: 'first key',
      hint: hintOf(key),
      scopes: SCOPES,
      createdAt: at,
      expiresAt: null,
      lastUsedAt: null,
    };
    await this.accounts.add(account, apiKey, hash);
    return { account, apiKey, key };
  }

  private async initialPlan(): Promise<Plan> {
    const plan = await this.plans.find(this.planName);
    if (plan === null) throw planMissing();
    return plan;
  }
}
