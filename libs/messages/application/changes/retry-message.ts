import type { Clock } from '#kernel/clock.js';
import type { Message } from '../../domain/message.js';
import { messageNotFound } from '../read-messages.js';
import type { Messages } from '../messages.js';
import type { StorageCap } from '../storage/storage-cap.js';

/** Queues a failed message again, with fresh attempts. */
export class RetryMessage {
  constructor(
    private readonly messages: Messages,
    private readonly clock: Clock,
    private readonly storage: StorageCap,
  ) {}

  /** @throws DomainError `message_not_found`, `invalid_transition`, `storage_full` or `unavailable` */
  async execute(accountId: string, id: string): Promise<Message> {
    const at = this.clock.now();
    const retry = (current: Message) => {
      const retried = current.retry(at);
      // Last: who repeats a retry whose response was lost learns that it took place.
      this.storage.requireRoom(accountId);
      return retried;
    };
    const message = await this.messages.change(accountId, id, retry, (deliveries) => {
      this.storage.countDeliveries(accountId, deliveries, at);
    });
    if (message === null) throw messageNotFound();
    return message;
  }
}
