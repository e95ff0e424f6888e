import type { Message } from '../domain/message.js';
import type { Messages, Page } from './messages.js';

export interface MessageList {
  /** Newest first. */
  readonly messages: readonly Message[];
  /** The id to list on from; null when there are no more. */
  readonly next: string | null;
}

export class ListMessages {
  constructor(private readonly messages: Messages) {}

  async execute(accountId: string, page: Page): Promise<MessageList> {
    // One more than asked for tells whether there is a next page.
    const found = await this.messages.list(accountId, { ...page, limit: page.limit + 1 });
    const messages = found.slice(0, page.limit);
    return { messages, next: found.length > page.limit ? (messages.at(-1)?.id ?? null) : null };
  }
}
