import type { Clock } from '#kernel/clock.js';
import type { MessageFilter, Messages } from '../messages.js';
import type { StorageCap } from '../storage/storage-cap.js';
import { requireOrdered } from './time-span.js';

/** Messages that one call retries at most. */
export const MAX_RETRIED = 100_000;

/** Retries all failed messages that a filter selects. */
export class RetryFailed {
  constructor(
    private readonly messages: Messages,
    private readonly clock: Clock,
    private readonly storage: StorageCap,
  ) {}

  /**
   * @returns how many, at most `MAX_RETRIED` of the oldest
   * @throws ValidationError when `until` is not after `since`
   * @throws DomainError `storage_full` or `unavailable`
   */
  async execute(accountId: string, filter: MessageFilter): Promise<number> {
    requireOrdered(filter);
    this.storage.requireRoom(accountId);
    return this.messages.retryFailed(accountId, filter, MAX_RETRIED, (deliveries) => {
      this.storage.countDeliveries(accountId, deliveries, this.clock.now());
    });
  }
}
