import type { Clock } from '#kernel/clock.js';
import { ValidationError } from '#kernel/domain-error.js';
import type { Messages } from '../messages.js';
import type { StorageCap } from '../storage/storage-cap.js';

/** Messages that one call retries at most. */
export const MAX_RETRIED = 100_000;

/** Retries all failed messages that were created in a time span. */
export class RetryFailed {
  constructor(
    private readonly messages: Messages,
    private readonly clock: Clock,
    private readonly storage: StorageCap,
  ) {}

  /**
   * @param since when the messages were created, inclusive
   * @param until when they were created, exclusive
   * @returns how many, at most `MAX_RETRIED` of the oldest
   * @throws ValidationError when `until` is not after `since`
   * @throws DomainError `storage_full` or `unavailable`
   */
  async execute(accountId: string, since: Date, until: Date): Promise<number> {
    if (until <= since) throw new ValidationError([{ pointer: '/until', detail: 'until must be after since.' }]);
    this.storage.requireRoom(accountId);
    return this.messages.retryFailed(accountId, since, until, MAX_RETRIED, (deliveries) => {
      this.storage.countDeliveries(accountId, deliveries, this.clock.now());
    });
  }
}
