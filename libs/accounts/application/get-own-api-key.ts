import type { ApiKey } from '../domain/api-key.js';
import type { Accounts } from './accounts.js';
import { unauthorized } from './authenticate-caller.js';
import type { KeySecrets } from './key-secrets.js';
import type { LastUsedTracker } from './last-used-tracker.js';

/** Returns the key that makes the request. It requires no scope. */
export class GetOwnApiKey {
  constructor(
    private readonly accounts: Pick<Accounts, 'findKey'>,
    private readonly secrets: KeySecrets,
    private readonly lastUsed: LastUsedTracker,
  ) {}

  /** @throws DomainError `unauthorized` when the key was revoked in the meantime */
  async execute(key: string): Promise<ApiKey> {
    await this.lastUsed.flush();
    const hash = this.secrets.hash(key);
    const found = hash === null ? null : await this.accounts.findKey(hash);
    if (found === null) throw unauthorized();
    return found.key;
  }
}
