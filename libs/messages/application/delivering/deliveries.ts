import type { Message } from '../../domain/message.js';
import type { ContentValues } from '../../domain/message-content.js';

/** What a job carries of its message. */
export interface Job {
  readonly id: string;
  readonly accountId: string;
  readonly content: ContentValues;
  readonly createdAt: Date;
  /** The retry that the job belongs to, 0 for the first round. */
  readonly retries: number;
}

export interface ClaimTerms {
  /** A new UUID. */
  readonly token: string;
  /** Milliseconds until the claim expires, by the store's clock. */
  readonly leaseMs: number;
}

/** A queued message that waits for its next attempt. */
export interface NotDue {
  readonly dueInMs: number;
}

/** How a worker of another program ended the job of a message's current round. */
export interface JobEnd {
  readonly id: string;
  /** The round that the job belongs to. */
  readonly retries: number;
  /** Attempts that were made by other programs, at least 1: the last of them ended the job. */
  readonly attempts: number;
  /** Null when the message was delivered. */
  readonly failedReason: string | null;
  /** When the last attempt started and ended; null when the job is gone. */
  readonly run: { readonly startedAt: Date; readonly endedAt: Date } | null;
}

/**
 * A worker's side of the store. Each method is one compare-and-set, durable when it resolves, and throws DomainError
 * `unavailable` when the store can't be reached; whether it took effect is then unknown.
 */
export abstract class Deliveries {
  /**
   * `queued` or `processing` → `processing` under a new claim, with the attempt counted. A `processing` message was
   * started by a worker that has lost the job since: it is taken over, and that attempt is `lost`.
   * Repeating a claim with its token, after a lost response, counts nothing again.
   * @returns how long the message still waits for its next attempt, if it does: its job has come too early; null when
   * there is nothing to run: the message is final, gone, or in another round, or its account is suspended, and the message
   * now waits in the outbox
   */
  abstract claim(job: Job, terms: ClaimTerms): Promise<Message | NotDue | null>;

  /**
   * Records that the claimed message now runs alone, and renews the claim.
   * @returns false when another worker has taken the message over
   */
  abstract runsAlone(claimed: Message, leaseMs: number): Promise<boolean>;

  /**
   * Stores how an attempt ended, in the message and in its list of attempts. The wait before the next one starts now, by
   * the store's clock.
   * @param ended the claimed message after `deliver`, `requeue`, `handOver` or `fail`
   * @returns false when another worker has taken the message over: nothing is changed then
   */
  abstract settle(claimed: Message, ended: Message): Promise<boolean>;

  /**
   * Takes back that a take-over counted as a crash: the worker that had claimed the message goes on. Does so at most once
   * for an attempt, `MAX_EXCUSED` times for a message, and not for one that has ended or was started anew since.
   */
  abstract excuse(claimed: Message): Promise<void>;

  /**
   * Stores how other programs ended jobs, each as a whole delivery: started, and delivered or failed. Changes only
   * messages that are open, in the same round, and not claimed. Of the attempts, only the last is recorded.
   * @returns how many messages it changed
   */
  abstract follow(ends: readonly JobEnd[]): Promise<number>;
}
