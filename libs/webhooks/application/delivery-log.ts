import type { Page } from '#kernel/page.js';
import type { EndpointDeliveryStatus } from '#messages/index.js';

/** The delivery of a message to an endpoint, as its account sees it. */
export interface EndpointDelivery {
  readonly messageId: string;
  readonly endpointId: string;
  /** `pending`: it waits for an attempt, or one is being made. */
  readonly status: EndpointDeliveryStatus;
  /** That have begun, over the whole life of the message. */
  readonly attempts: number;
  /** When the next attempt is due; null when that is now, or unknown, or when there is none. */
  readonly nextAttemptAt: Date | null;
  /** When the last attempt that has ended began, and how long it took; null without one, or if its worker was lost. */
  readonly lastAttemptAt: Date | null;
  readonly durationMs: number | null;
  /** What the endpoint answered to it; null without an answer. */
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  /** Why it has not succeeded; null otherwise. */
  readonly error: string | null;
}

/** The endpoint of a delivery, null when it was deleted. */
export interface EndpointName {
  readonly url: string | null;
  readonly description: string | null;
}

export interface DeliveryPage extends Page {
  readonly status: EndpointDeliveryStatus | null;
}

/** Reads deliveries of messages to endpoints. Those that were cancelled with their message are left out. */
export abstract class DeliveryLog {
  /**
   * By endpoint, the oldest first.
   * @returns null when the account has no such message
   */
  abstract ofMessage(
    accountId: string,
    messageId: string,
  ): Promise<readonly (EndpointDelivery & EndpointName)[] | null>;

  /**
   * Newest message first. `before` is the id of a message.
   * @returns one more than the limit if there are more
   */
  abstract ofEndpoint(accountId: string, endpointId: string, page: DeliveryPage): Promise<readonly EndpointDelivery[]>;
}
