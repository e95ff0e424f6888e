/** An endpoint with deliveries that are due. */
export interface DueEndpoint {
  readonly endpointId: string;
  /** How many, at most as many as were asked for. */
  readonly due: number;
}

/** A delivery of a message to an endpoint that this process makes now. */
export interface LeasedDelivery {
  readonly token: string;
  readonly endpointId: string;
  readonly messageId: string;
  readonly text: string;
  readonly createdAt: Date;
  readonly traceparent: string | null;
  /** Attempts that have failed since the message was accepted or last retried. */
  readonly failures: number;
}

/** How an attempt ended. */
export interface DeliveryResult {
  readonly delivery: LeasedDelivery;
  readonly outcome: 'delivered' | 'retried' | 'failed';
  /** Milliseconds until the next attempt, of one that is retried. */
  readonly retryMs: number;
  readonly error: string | null;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
}

/**
 * The deliveries of messages to endpoints. A message is `queued` until the first attempt starts, `processing` until none
 * of its deliveries is left to make, and then `delivered`, or `failed` when one of them has failed. Each method is atomic
 * and durable when it resolves, and throws DomainError `unavailable` when the store can't be reached.
 */
export abstract class EndpointDeliveries {
  /** Endpoints with due deliveries, but none of suspended accounts. @param limit counts no more of each */
  abstract due(limit: number): Promise<DueEndpoint[]>;

  /**
   * Starts attempts. Those that other workers have not ended within their lease are `lost`, and start again. Deliveries of
   * messages that were cancelled or removed are dropped.
   * @param places how many, at most, of each endpoint
   */
  abstract lease(places: ReadonlyMap<string, number>, leaseMs: number): Promise<LeasedDelivery[]>;

  /**
   * Sends messages again, of those that were delivered or failed, to an endpoint that has not got them: a failed message
   * is retried for it alone, a delivered one stays delivered whatever becomes of it.
   * @param since when the messages were created, inclusive
   * @param until when they were created, exclusive
   * @returns how many, at most about `max`
   */
  abstract replay(accountId: string, endpointId: string, since: Date, until: Date, max: number): Promise<number>;

  /** Stores how attempts ended. What another worker has leased since is not changed. */
  abstract settle(results: readonly DeliveryResult[]): Promise<void>;
}
