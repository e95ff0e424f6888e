import type { Attempt } from '../domain/attempt.js';
import { messageNotFound } from './get-message.js';
import type { Messages } from './messages.js';

export class ListAttempts {
  constructor(private readonly messages: Messages) {}

  /**
   * The newest last.
   * @throws DomainError `message_not_found`, also for a message of another account
   */
  async execute(accountId: string, id: string): Promise<readonly Attempt[]> {
    const attempts = await this.messages.attempts(accountId, id);
    if (attempts === null) throw messageNotFound();
    return attempts;
  }
}
