import type { Clock } from '#kernel/clock.js';
import type { Message } from '../domain/message.js';
import { messageNotFound } from './get-message.js';
import type { Messages } from './messages.js';

/** Queues a failed message again, with fresh attempts. */
export class RetryMessage {
  constructor(
    private readonly messages: Messages,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `message_not_found` or `invalid_transition` */
  async execute(accountId: string, id: string): Promise<Message> {
    const message = await this.messages.change(accountId, id, (current) => current.retry(this.clock.now()));
    if (message === null) throw messageNotFound();
    return message;
  }
}
