import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { Account } from '../domain/account.js';
import { SCOPES, type ApiKey } from '../domain/api-key.js';
import { planMissing } from '../domain/plan.js';
import type { Accounts } from './accounts.js';
import type { IssuedKey } from './create-api-key.js';
import type { KeySecrets } from './key-secrets.js';
import type { Plans } from './plans.js';

export interface SignedUp extends IssuedKey {
  readonly account: Account;
}

/** Names the plan of new accounts. */
export const SIGNUP_PLAN = Symbol('plan of new accounts');

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
   * @throws ValidationError when the name is invalid
   * @throws DomainError `unavailable` when the plan of new accounts is missing
   */
  async execute(name: string): Promise<SignedUp> {
    const at = this.clock.now();
    const plan = await this.plans.find(this.planName);
    if (plan === null) throw planMissing();
    const account = Account.open(this.ids.next('acct', at), name, plan, at);
    const apiKey: ApiKey = {
      id: this.ids.next('key', at),
      accountId: account.id,
      name: 'first key',
      scopes: SCOPES,
      createdAt: at,
      expiresAt: null,
      lastUsedAt: null,
    };
    const { key, hash } = this.secrets.issue();
    await this.accounts.add(account, apiKey, hash);
    return { account, apiKey, key };
  }
}
