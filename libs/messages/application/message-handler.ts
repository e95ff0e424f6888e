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
  /** Attempts that remain if this one fails; 0 when it is the last. */
  readonly attemptsLeft: number;
  /** When the attempt's time is up, by the clock of this process. */
  readonly deadline: Date;
}

/**
 * What a worker does with a message: the port that engineers implement.
 *
 * Delivery is at least once and in no promised order. To resolve is to have delivered. To throw is to have failed this
 * attempt: `RetryDelivery` says when the next one begins, `GiveUp` that there is none, and anything else waits as the
 * settings say. The error's message becomes the failure reason that the sender sees.
 */
export abstract class MessageHandler {
  /** @param signal aborts when the attempt's time is up; whatever the handler does afterwards no longer counts */
  abstract handle(delivery: Delivery, signal: AbortSignal): Promise<void>;
}

/** Thrown by a handler that knows when it is worth trying again. The attempt has failed like any other. */
export class RetryDelivery extends Error {
  /** @param afterMs milliseconds until the next attempt; MAX_BACKOFF_MS if that is less */
  constructor(
    reason: string,
    readonly afterMs: number,
  ) {
    super(reason);
  }
}

/** Thrown by a handler that knows that no further attempt can succeed: the message is `failed` at once. */
export class GiveUp extends Error {}
