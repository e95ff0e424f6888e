import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import type { Limits } from '#kernel/limits.js';
import { Account } from '../domain/account.js';
import { SCOPES, type ApiKey } from '../domain/api-key.js';
import type { Plan } from '../domain/plan.js';
import type { Accounts } from './accounts.js';
import type { IssuedKey } from './create-api-key.js';
import type { KeySecrets } from './key-secrets.js';

export interface SignedUp extends IssuedKey {
  readonly account: Account;
}

/** What only operators choose; what is missing is as for a sign-up. */
export interface NewAccount {
  readonly plan?: Plan | undefined;
  readonly limits?: Limits | undefined;
  readonly externalId?: string | undefined;
}

/** Creates an account with its first key, which has all scopes. */
export class SignUp {
  constructor(
    private readonly accounts: Accounts,
    private readonly secrets: KeySecrets,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ValidationError when the name or the external id is invalid, or limits are given for another plan than enterprise
   * @throws DomainError `external_id_taken`
   */
  async execute(name: string, { plan, limits, externalId }: NewAccount = {}): Promise<SignedUp> {
    const at = this.clock.now();
    const account = Account.open(this.ids.next('acct', at), name, at)
      .changePlan(plan ?? null, limits ?? null)
      .changeExternalId(externalId ?? null);
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
