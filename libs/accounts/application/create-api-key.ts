import type { Clock } from '#kernel/clock.js';
import { ValidationError } from '#kernel/domain-error.js';
import type { Ids } from '#kernel/ids.js';
import { accountNotFound, nameError } from '../domain/account.js';
import { assertCanGrant, hintOf, tooManyKeys, type ApiKey, type Scope } from '../domain/api-key.js';
import type { Accounts, Actor } from './accounts.js';
import { unauthorized } from './authenticate-caller.js';
import type { KeySecrets } from './key-secrets.js';

/** A key with its plain text, which is not stored. */
export interface IssuedKey {
  readonly apiKey: ApiKey;
  readonly key: string;
}

/** The account and the scopes of the key with which a key is created or rotated. */
export interface Grantor {
  readonly accountId: string;
  readonly scopes: readonly string[];
}

export interface NewApiKey {
  readonly name: string;
  /** Null for all scopes of the grantor. */
  readonly scopes: readonly Scope[] | null;
  readonly expiresAt: Date | null;
}

export class CreateApiKey {
  constructor(
    private readonly accounts: Accounts,
    private readonly secrets: KeySecrets,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ValidationError when the name is invalid or the expiry is not in the future
   * @throws DomainError `insufficient_scope` for a scope that the grantor does not have
   * @throws DomainError `too_many_keys`
   * @throws DomainError `account_not_found` to operators, `unauthorized` to the account itself, when it was deleted
   */
  async execute(grantor: Grantor, input: NewApiKey, by: Actor = 'account'): Promise<IssuedKey> {
    const at = this.clock.now();
    const error = nameError(input.name);
    if (error !== null) throw new ValidationError([{ pointer: '/name', detail: error }]);
    if (input.expiresAt !== null && input.expiresAt <= at) {
      throw new ValidationError([{ pointer: '/expiresAt', detail: 'expiresAt must be in the future.' }]);
    }
    assertCanGrant(grantor.scopes, input.scopes ?? []);
    const { key, hash } = this.secrets.issue();
    const apiKey: ApiKey = {
      id: this.ids.next('key', at),
      accountId: grantor.accountId,
      name: input.name,
      hint: hintOf(key),
      scopes: input.scopes ?? (grantor.scopes as readonly Scope[]),
      createdAt: at,
      expiresAt: input.expiresAt,
      lastUsedAt: null,
    };
    const added = await this.accounts.addKey(apiKey, hash, by);
    if (added === null) throw by === 'operator' ? accountNotFound() : unauthorized();
    if (!added) throw tooManyKeys();
    return { apiKey, key };
  }
}
