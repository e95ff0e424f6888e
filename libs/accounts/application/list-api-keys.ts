import type { ApiKey } from '../domain/api-key.js';
import type { Page } from '#kernel/page.js';
import type { Accounts, Actor } from './accounts.js';
import type { LastUsedTracker } from './last-used-tracker.js';

export class ListApiKeys {
  constructor(
    private readonly accounts: Accounts,
    private readonly lastUsed: LastUsedTracker,
  ) {}

  /** Newest first. */
  async execute(accountId: string, page: Page, by: Actor): Promise<ApiKey[]> {
    await this.lastUsed.flush();
    return this.accounts.listKeys(accountId, page, by);
  }
}
