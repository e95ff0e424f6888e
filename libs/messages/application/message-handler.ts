/** One attempt to deliver one message. */
export interface Delivery {
  /** The message's id. It stays the same over all attempts: use it as an idempotency key. */
  readonly id: string;
  readonly accountId: string;
  readonly message: string;
  readonly createdAt: Date;
  /** From 1, over the whole life of the message. */
  readonly attempt: number;
  /** What to pass on as the `traceparent` header (W3C Trace Context); null when the message was sent in no trace. */
  readonly traceparent: string | null;
}

/**
 * What a worker does with a message: the port that engineers implement.
 *
 * Delivery is at least once and in no promised order. To resolve is to have delivered; to throw is to have failed
 * this attempt, and the error's message becomes the failure reason that the sender sees.
 */
export abstract class MessageHandler {
  /** @param signal aborts when the attempt's time is up; whatever the handler does afterwards no longer counts */
  abstract handle(delivery: Delivery, signal: AbortSignal): Promise<void>;
}
