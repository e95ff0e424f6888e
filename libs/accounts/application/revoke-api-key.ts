import type { Clock } from '#kernel/clock.js';
import { apiKeyNotFound } from '../domain/api-key.js';
import type { Accounts, Actor } from './accounts.js';

export class RevokeApiKey {
  constructor(
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `api_key_not_found` */
  async execute(accountId: string, keyId: string, by: Actor): Promise<void> {
    if (!(await this.accounts.revokeKey(accountId, keyId, this.clock.now(), by))) throw apiKeyNotFound();
  }
}
