import type { Message } from '../domain/message.js';
import type { Messages, Page } from './messages.js';

export class ListMessages {
  constructor(private readonly messages: Messages) {}

  /** Newest first. */
  execute(accountId: string, page: Page): Promise<Message[]> {
    return this.messages.list(accountId, page);
  }
}
