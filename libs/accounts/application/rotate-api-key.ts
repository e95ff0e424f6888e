import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { apiKeyNotFound, assertCanGrant, hintOf, tooManyKeys } from '../domain/api-key.js';
import type { Accounts } from './accounts.js';
import type { Grantor, IssuedKey } from './create-api-key.js';
import type { KeySecrets } from './key-secrets.js';

export class RotateApiKey {
  constructor(
    private readonly accounts: Accounts,
    private readonly secrets: KeySecrets,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * Replaces a key by one with a new id and the same name, scopes and expiry.
   * @param graceSeconds how long the old key continues to work
   * @throws DomainError `insufficient_scope` when the key has a scope that the grantor does not have
   * @throws DomainError `api_key_not_found`; `too_many_keys` when there is no capacity for both during the grace
   */
  async execute(grantor: Grantor, keyId: string, graceSeconds: number): Promise<IssuedKey> {
    const at = this.clock.now();
    const { key, hash } = this.secrets.issue();
    const endsAt = new Date(at.getTime() + graceSeconds * 1_000);
    const apiKey = await this.accounts.replaceKey(grantor.accountId, keyId, at, endsAt, hash, (old) => {
      assertCanGrant(grantor.scopes, old.scopes);
      return { ...old, id: this.ids.next('key', at), hint: hintOf(key), createdAt: at, lastUsedAt: null };
    });
    if (apiKey === null) throw apiKeyNotFound();
    if (apiKey === false) throw tooManyKeys();
    return { apiKey, key };
  }
}
