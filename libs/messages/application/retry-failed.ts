import { ValidationError } from '#kernel/domain-error.js';
import type { Messages } from './messages.js';

/** Messages that one call sends off again. */
export const MAX_RETRIED = 100_000;

/** Sends all messages of a time on their way again that had failed for good. */
export class RetryFailed {
  constructor(private readonly messages: Messages) {}

  /**
   * @param since when they were created, at the earliest
   * @param until when they were created, earlier than that
   * @returns how many, at most 100,000 of the oldest
   * @throws ValidationError when the time ends before it begins
   */
  execute(accountId: string, since: Date, until: Date): Promise<number> {
    if (until <= since) throw new ValidationError([{ pointer: '/until', detail: 'until must be after since.' }]);
    return this.messages.retryFailed(accountId, since, until, MAX_RETRIED);
  }
}
