import type { Clock } from '#kernel/clock.js';
import type { Message } from '../domain/message.js';
import type { DeliveryTargets, Sender } from './delivery-targets.js';
import { messageNotFound } from './get-message.js';
import type { Messages } from './messages.js';

/** Queues a failed message again, with fresh attempts. */
export class RetryMessage {
  constructor(
    private readonly messages: Messages,
    private readonly clock: Clock,
    private readonly targets: DeliveryTargets,
  ) {}

  /** @throws DomainError `message_not_found` or `invalid_transition` */
  async execute(sender: Sender, id: string): Promise<Message> {
    const retry = (current: Message) => current.retry(this.clock.now());
    const message = await this.messages.change(sender.accountId, id, retry, await this.targets.of(sender));
    if (message === null) throw messageNotFound();
    return message;
  }
}
