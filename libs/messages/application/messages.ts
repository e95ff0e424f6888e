import type { Page } from '#kernel/page.js';
import type { Attempt } from '../domain/attempt.js';
import type { Idempotency } from '../domain/idempotency.js';
import type { Message } from '../domain/message.js';
import type { MessageStatus } from '../domain/message-status.js';
import type { TypeFilter } from '../domain/type-filter.js';

export interface Accepted {
  /**
   * The messages stored for this request, now or when its key was first used: in the state of their acceptance, and in the
   * order in which they were sent.
   */
  readonly messages: readonly Message[];
  /** Deliveries to endpoints that were stored with them now. */
  readonly deliveries: number;
  readonly replayed: boolean;
}

/**
 * Called after each commit with the number of deliveries that it has started. A message for webhooks has one delivery for
 * each endpoint that has not received it, any other message has one.
 */
export type OnStarted = (deliveries: number) => void;

/** The text of all messages of a page, in bytes of UTF-8. A larger message is a page of its own. */
export const MAX_PAGE_BYTES = 1_048_576;

/** Attempts of a message that are listed. */
export const MAX_ATTEMPTS = 1_000;

export interface TimeSpan {
  /** When messages were accepted, inclusive; null for from the beginning. */
  readonly since: Date | null;
  /** When they were accepted, exclusive; null for no end. */
  readonly until: Date | null;
}

export interface MessageFilter extends TimeSpan {
  readonly type: TypeFilter | null;
}

export interface MessagePage extends Page, MessageFilter {
  /** Of the messages; with an endpoint, of their deliveries to it: only `delivered` or `failed`. */
  readonly status: MessageStatus | null;
  /** Only messages with a delivery to this endpoint, of all types. */
  readonly endpointId: string | null;
  /** Texts are cut to this many characters; null for whole texts. */
  readonly preview: number | null;
}

export interface Listed {
  readonly messages: readonly Message[];
  /** The ids of those whose text was cut. */
  readonly cut: ReadonlySet<string>;
  /** Whether there are older ones. */
  readonly more: boolean;
}

/**
 * Every method throws DomainError `unavailable` when the store can't be reached; whether a write took effect is then
 * unknown.
 */
export abstract class Messages {
  /**
   * Stores the messages of a request, their outbox entries (due at `deliverAt` by the store's clock, or now) and the
   * request's idempotency record: all or nothing, and durably, before it resolves. A message for webhooks is stored
   * with a delivery to each enabled endpoint of its account; without any it has failed at once. Of parallel calls with
   * one key exactly one stores; the others get the messages that it stored.
   * @param messages of one account, at least one
   * @throws DomainError `idempotency_key_reused` when the key was used with another fingerprint
   * @throws DomainError `idempotency_key_in_use` when the first request with the key takes too long
   */
  abstract add(messages: readonly Message[], idempotency: Idempotency | null): Promise<Accepted>;

  /** Whether a request with this idempotency key has stored messages, or is about to in this process. */
  abstract hasKey(accountId: string, key: string): Promise<boolean>;

  abstract find(accountId: string, id: string): Promise<Message | null>;

  /** Newest first. The cost does not depend on the number of stored messages. */
  abstract list(accountId: string, page: MessagePage): Promise<Listed>;

  /**
   * The known attempts to deliver a message, at most the newest `MAX_ATTEMPTS`, the newest last.
   * @returns null when the account has no such message
   */
  abstract attempts(accountId: string, id: string): Promise<readonly Attempt[] | null>;

  /**
   * Changes a message by one of its own methods, as a compare-and-set: of two concurrent changes, one sees the result
   * of the other. If the change gives the message a new job (a retry), the outbox entry for it commits with the change.
   * The time of the change is the store's. A retried message for webhooks goes to the enabled endpoints of its account
   * that have not got it; if there are none, it fails again.
   * @returns the changed message; null when the account has no such message
   * @throws the error of `transition`, without any change
   */
  abstract change(
    accountId: string,
    id: string,
    transition: (message: Message) => Message,
    onStarted?: OnStarted,
  ): Promise<Message | null>;

  /**
   * Retries, as `Message.retry` does, failed messages that a filter selects, the oldest first. In small steps that are
   * each durable with their outbox entries: an error leaves the rest unchanged.
   * @param max how many messages
   * @returns how many messages
   */
  abstract retryFailed(accountId: string, filter: MessageFilter, max: number, onStarted?: OnStarted): Promise<number>;

  /**
   * Cancels queued messages, as `Message.cancel` does, the oldest first: also scheduled ones and some that are accepted
   * meanwhile, but none that is claimed first. In small steps that are each durable: an error leaves the rest queued.
   * @param max how many messages
   * @param onCancelled called after each step with the ids of the jobs of its messages
   * @returns how many messages
   */
  abstract cancelQueued(
    accountId: string,
    filter: MessageFilter,
    max: number,
    onCancelled: (jobIds: readonly string[]) => Promise<unknown>,
  ): Promise<number>;

  /**
   * Deletes some of the idempotency keys that were first used longer ago than `KEY_LIFETIME_MS`, by the store's clock.
   * @returns whether there may be more
   */
  abstract deleteExpiredKeys(): Promise<boolean>;
}
