import { DomainError } from '#kernel/domain-error.js';
import type { Message } from '../domain/message.js';
import type { Messages } from './messages.js';

export class GetMessage {
  constructor(private readonly messages: Messages) {}

  /** @throws DomainError `message_not_found`, also for a message of another account */
  async execute(accountId: string, id: string): Promise<Message> {
    const message = await this.messages.find(accountId, id);
    if (message === null) throw messageNotFound();
    return message;
  }
}

export function messageNotFound(): DomainError {
  return new DomainError('message_not_found', 'The account has no message with this id.');
}
