import type { Listed, Messages, Page } from './messages.js';

export class ListMessages {
  constructor(private readonly messages: Messages) {}

  /** Newest first. */
  execute(accountId: string, page: Page): Promise<Listed> {
    return this.messages.list(accountId, page);
  }
}
