import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { Account } from '../domain/account.js';
import { SCOPES, type ApiKey } from '../domain/api-key.js';
import type { Accounts } from './accounts.js';
import type { IssuedKey } from './create-api-key.js';
import type { KeySecrets } from './key-secrets.js';

export interface SignedUp extends IssuedKey {
  readonly account: Account;
}

/** Creates an account with its first key, which has all scopes. */
export class SignUp {
  constructor(
    private readonly accounts: Accounts,
    private readonly secrets: KeySecrets,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** @throws ValidationError when the name is invalid */
  async execute(name: string): Promise<SignedUp> {
    const at = this.clock.now();
    const account = Account.open(this.ids.next('acct', at), name, at);
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
