import type { Message } from '../../domain/message.js';

export interface LeaseTerms {
  /** Messages that it is for, at most. */
  readonly max: number;
  /** Milliseconds until it expires, by the store's clock. */
  readonly leaseMs: number;
}

export interface Leased {
  readonly messages: readonly Message[];
  /** Expired leases that it has taken over or whose messages have failed. */
  readonly expired: number;
  /** Whether more of them may be available. */
  readonly mayBeMore: boolean;
}

/** Identifies the claim on a message that a lease has given. */
export interface Lease {
  readonly id: string;
  readonly token: string;
  /** The attempt that the lease started. No other one of the message has this number. */
  readonly attempt: number;
}

export interface Extended {
  readonly expiresAt: Date;
  /** Whether the lease now ends earlier than before. */
  readonly isSooner: boolean;
}

/**
 * The consumers' side of the store: messages of accounts that pull them. Each method is one compare-and-set and throws
 * DomainError `unavailable` when the store can't be reached; whether it took effect is then unknown. What ends an attempt
 * is durable when it resolves. A crash of the store may forget a lease of its last second, which then is lost.
 */
export abstract class Leases {
  /**
   * Claims available messages, in the order in which they became available. No other lease waits for it or gets the
   * same messages. A message whose lease has expired is taken over: that attempt is `lost`. If it was the last attempt,
   * the message fails instead.
   * @returns messages of a bounded size in all, each with a token of its own, and none of an account that is suspended or
   * paused
   */
  abstract lease(accountId: string, terms: LeaseTerms): Promise<Leased>;

  /** Whether the account is suspended or paused, so that nothing is available. */
  abstract isHalted(accountId: string): Promise<boolean>;

  /** Milliseconds until the next message may be leased, at least 0; null when none is open. */
  abstract nextIn(accountId: string): Promise<number | null>;

  /**
   * Delivers messages. Repeating it, after a lost response, changes nothing.
   * @returns for each whether the message is delivered by this lease, now or by an earlier call
   */
  abstract acknowledge(accountId: string, leases: readonly Lease[]): Promise<boolean[]>;

  /** The message under a lease that has not expired; null otherwise. */
  abstract find(accountId: string, lease: Lease): Promise<Message | null>;

  /**
   * Stores how an attempt failed. Repeating it, after a lost response, changes nothing.
   * @param ended the message, as it was found, after `requeue` or `fail`
   * @param delayMs milliseconds until a requeued message is available again
   * @returns false when the lease has expired
   */
  abstract reject(leased: Message, ended: Message, delayMs: number): Promise<boolean>;

  /** Whether the attempt of a lease was ended by `reject`. */
  abstract wasRejected(accountId: string, lease: Lease): Promise<boolean>;

  /** @returns null when the lease has already expired */
  abstract extend(accountId: string, lease: Lease, leaseMs: number): Promise<Extended | null>;
}
