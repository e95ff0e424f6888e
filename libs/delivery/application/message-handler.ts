import type { ContentJson } from '#messages/index.js';

/**
 * One attempt to deliver a message: the fields that the sender set, as in the JSON of the API, and the data of the
 * attempt.
 */
export interface Delivery extends ContentJson {
  /** The message's id. It stays the same over all attempts: use it as an idempotency key. */
  readonly id: string;
  readonly accountId: string;
  readonly createdAt: Date;
  /** From 1, over the whole life of the message. */
  readonly attempt: number;
  /**
   * The value to pass on as the `traceparent` header (W3C Trace Context); null when the message was sent in no trace.
   */
  readonly traceparent: string | null;
  /** Attempts that remain if this one fails; 0 for the last one. */
  readonly attemptsLeft: number;
  /** When the attempt times out, by `Date.now()` in this process. */
  readonly deadline: Date;
}

/**
 * Processes messages in a worker. This is the port that users of Sluice implement.
 *
 * Delivery is at least once and in no guaranteed order. Resolving means delivered; throwing fails the attempt:
 * `RetryDelivery` sets the time of the next one, `GiveUp` prevents it, and after any other error it follows the
 * settings. The error's message becomes the failure reason that the sender sees.
 */
export abstract class MessageHandler {
  /**
   * @param signal aborts with a `TimeoutError` when the attempt times out, and with an `AbortError` when the worker
   * stops and its grace is over: another worker then delivers the message again. The result of the handler is then
   * ignored.
   */
  abstract handle(delivery: Delivery, signal: AbortSignal): Promise<void>;
}

/** Thrown by a handler that knows when to try again. The attempt has failed like any other. */
export class RetryDelivery extends Error {
  override readonly name = 'RetryDelivery';

  /** @param afterMs milliseconds until the next attempt; at most MAX_BACKOFF_MS */
  constructor(
    reason: string,
    readonly afterMs: number,
  ) {
    super(reason);
  }
}

/** Thrown by a handler that knows that no further attempt can succeed: the message fails immediately. */
export class GiveUp extends Error {
  override readonly name = 'GiveUp';
}
