import type { ContentValues, OnStarted } from '#messages/index.js';
import type { TYPES_CHANGED } from '../domain/message-outcome.js';

/** Why deliveries to an endpoint are abandoned. */
export type AbandonReason = 'endpoint_disabled' | 'endpoint_deleted' | typeof TYPES_CHANGED;

/** What one step of ending deliveries has done. */
export interface Abandoned {
  readonly abandoned: number;
  /** Others would have been abandoned, but are being made. */
  readonly areMade: boolean;
  /** The message after which the next step goes on; null when there are no more. */
  readonly last: string | null;
}

/** An endpoint with deliveries that are due. */
export interface DueEndpoint {
  readonly endpointId: string;
  readonly accountId: string;
  /** How many, at most as many as were asked for. */
  readonly due: number;
  /** Requests that may start in a second; 0 for no limit. */
  readonly rateLimitPerSecond: number;
  /** The key under which its current secret is encrypted; null when it was deleted. */
  readonly keyId: string | null;
}

/** A delivery of a message to an endpoint that this process makes now. */
export interface LeasedDelivery {
  readonly token: string;
  readonly endpointId: string;
  readonly accountId: string;
  readonly messageId: string;
  readonly content: ContentValues;
  readonly createdAt: Date;
  readonly traceparent: string | null;
  /** Attempts that have failed since the message was accepted or last retried. */
  readonly failures: number;
  /** The version of the endpoint when the attempt started; null when it was deleted. */
  readonly endpointVersion: string | null;
}

/** How an attempt ended. */
export interface DeliveryResult {
  readonly delivery: LeasedDelivery;
  readonly outcome: 'delivered' | 'retried' | 'failed';
  /** Milliseconds until the next attempt, of one that is retried. */
  readonly retryMs: number;
  /** Milliseconds for which a failure counts as one of a series, until another one follows. */
  readonly forgottenMs: number;
  readonly error: string | null;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  /** The revision of the endpoint to which a request was sent; null when none was. */
  readonly revision: number | null;
}

export interface ReplayTerms {
  /** When the messages were created, inclusive. */
  readonly since: Date;
  /** When they were created, exclusive. */
  readonly until: Date;
  /** Stops when about so many are replayed. */
  readonly max: number;
  /** So many are due at once, as many a second later, and so on. */
  readonly perSecond: number;
}

/**
 * The deliveries of messages to endpoints. A message is `queued` until the first attempt starts, `processing` until none
 * of its deliveries is left to make, and then `delivered`, or `failed` when one of them has failed or all were abandoned.
 * Each method is atomic and durable when it resolves, and throws DomainError `unavailable` when the store can't be reached.
 */
export abstract class EndpointDeliveries {
  /** Endpoints with due deliveries, but none of suspended accounts. @param limit counts no more of each */
  abstract due(limit: number): Promise<DueEndpoint[]>;

  /** Milliseconds until another delivery is due; null when nothing is to come by itself. */
  abstract nextIn(): Promise<number | null>;

  /** The same, but 0 when deliveries are due, also those of suspended accounts. One cheap statement. */
  abstract pendingIn(): Promise<number | null>;

  /** Calls the listener, from now on, when deliveries may be due sooner than `nextIn` said. Some calls may be missed. */
  abstract listen(listener: () => void): void;

  /**
   * Starts attempts. Attempts that other workers have not ended within their lease are `lost`, and start again.
   * Deliveries of messages that were cancelled or removed are dropped.
   * @param places how many, at most, of each endpoint
   */
  abstract lease(places: ReadonlyMap<string, number>, leaseMs: number): Promise<LeasedDelivery[]>;

  /**
   * Sends messages to an endpoint that has not got them, except cancelled ones: a failed message is retried for it
   * alone, a delivered one stays delivered even if this delivery fails, and an open one is not delivered before this
   * endpoint has it.
   * @param gone aborts when the client no longer waits: what was replayed until then remains
   * @returns how many
   */
  abstract replay(
    accountId: string,
    endpointId: string,
    terms: ReplayTerms,
    gone: AbortSignal,
    onStarted?: OnStarted,
  ): Promise<number>;

  /**
   * Ends deliveries that wait for an endpoint which is no longer enabled or does not want their type any more, among the
   * next ones by message. It has missed them, but they do not count against their messages. Deliveries that are being made
   * are left to `settle`.
   * @param after the message after which to begin; empty for the first
   */
  abstract abandon(endpointId: string, reason: AbandonReason, after: string): Promise<Abandoned>;

  /**
   * Stores how an attempt ended. One that failed without a request, or for an endpoint which is no longer enabled or does
   * not want its type any more, is abandoned. A delivery that another worker has leased since is not changed. In the same
   * transaction, the endpoint notes the first failure after a success, or a success after failures, in the order in which
   * attempts end, unless it has another revision since the request.
   */
  abstract settle(result: DeliveryResult): Promise<void>;
}
