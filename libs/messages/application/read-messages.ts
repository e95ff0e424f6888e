import { DomainError } from '#kernel/domain-error.js';
import type { Attempt } from '../domain/attempt.js';
import type { Message } from '../domain/message.js';
import type { Listed, MessagePage, Messages } from './messages.js';

/** Reads the messages of an account. */
export class ReadMessages {
  constructor(private readonly messages: Messages) {}

  /** @throws DomainError `message_not_found`, also for a message of another account */
  async find(accountId: string, id: string): Promise<Message> {
    const message = await this.messages.find(accountId, id);
    if (message === null) throw messageNotFound();
    return message;
  }

  /** Newest first. */
  list(accountId: string, page: MessagePage): Promise<Listed> {
    return this.messages.list(accountId, page);
  }

  /**
   * The newest last.
   * @throws DomainError `message_not_found`, also for a message of another account
   */
  async attempts(accountId: string, id: string): Promise<readonly Attempt[]> {
    const attempts = await this.messages.attempts(accountId, id);
    if (attempts === null) throw messageNotFound();
    return attempts;
  }
}

export function messageNotFound(): DomainError {
  return new DomainError('message_not_found', 'The account has no message with this id.');
}
