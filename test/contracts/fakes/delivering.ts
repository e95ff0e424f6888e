import { DeliverMessage, type DeliveryTerms, type Outcome } from '#delivery/application/deliver-message.js';
import type { Delivery } from '#delivery/application/message-handler.js';
import { Message, type MessageState } from '#messages/domain/message.js';
import { aMessage, jobOf } from '../../support/messages.js';
import { InMemoryDeliveries } from './in-memory-deliveries.js';
import { InMemoryStore } from './in-memory-store.js';

type Handle = (delivery: Delivery, signal: AbortSignal) => Promise<void>;

export const TERMS: DeliveryTerms = {
  maxAttempts: 3,
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
  attemptTimeoutMs: 10_000,
};

/** A worker on a store in memory, whose jitter is always the middle; `calls` records those of its handler. */
export class Worker {
  readonly store = new InMemoryStore();
  readonly deliveries = new InMemoryDeliveries(this.store);
  readonly calls: Delivery[] = [];
  readonly stopping = new AbortController();
  private readonly deliver: DeliverMessage;

  constructor(handle: Handle = () => Promise.resolve(), terms: Partial<DeliveryTerms> = {}) {
    const handler = {
      handle: (delivery: Delivery, signal: AbortSignal) => {
        this.calls.push(delivery);
        return handle(delivery, signal);
      },
    };
    this.deliver = new DeliverMessage(
      this.deliveries,
      handler,
      { ...TERMS, ...terms },
      this.store.clock,
      { ended: () => undefined, handled: () => undefined },
      () => 0.5,
    );
  }

  /** A message in the store. */
  has(state: Partial<MessageState> = {}): Message {
    const message = aMessage(state);
    this.store.messages.set(message.id, message);
    return message;
  }

  run(message: Message): Promise<Outcome> {
    return this.deliver.execute(jobOf(message), this.stopping.signal);
  }

  /** The message as it is stored now. */
  stored({ id }: Message): MessageState {
    const message = this.store.messages.get(id);
    if (message === undefined) throw new Error('The message is not in the store.');
    return message.state;
  }
}
