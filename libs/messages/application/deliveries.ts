import type { Message } from '../domain/message.js';

/** What a job tells of its message. */
export interface Job {
  readonly id: string;
  readonly accountId: string;
  readonly message: string;
  readonly createdAt: Date;
  /** The retry that the job belongs to, 0 for the first round. */
  readonly retries: number;
}

export interface ClaimTerms {
  /** A UUID that nobody else has. */
  readonly token: string;
  /** Milliseconds until the claim lapses, by the store's clock. */
  readonly leaseMs: number;
}

/** How a worker other than ours ended the job of a message's current round. */
export interface JobEnd {
  readonly id: string;
  /** The round that the job belongs to. */
  readonly retries: number;
  /** Attempts that were made outside of our workers, at least 1: the last of them ended the job. */
  readonly attempts: number;
  /** Null when the message was delivered. */
  readonly failedReason: string | null;
  /** When the last attempt began and ended; null when the job is gone. */
  readonly run: { readonly startedAt: Date; readonly endedAt: Date } | null;
}

/**
 * A worker's side of the store. Each method is one compare-and-set, durable when it resolves, and throws DomainError
 * `unavailable` when the store can't be reached; whether it took place is then unknown.
 */
export abstract class Deliveries {
  /**
   * `queued` or `processing` → `processing` under a new claim, with the attempt counted. A message that is
   * `processing` was begun by a worker that has lost the job since, so it is taken over, and that attempt is `lost`.
   * To claim again with the same token is the same claim, for one whose answer was lost: nothing is counted twice.
   * @returns null when there is nothing to run: the message is final, gone, or in another round
   */
  abstract claim(job: Job, terms: ClaimTerms): Promise<Message | null>;

  /**
   * Notes that the claimed message now runs alone, and renews the claim.
   * @returns false when another worker has taken the message over
   */
  abstract runsAlone(claimed: Message, leaseMs: number): Promise<boolean>;

  /**
   * Stores how an attempt ended, in the message and in the list of its attempts.
   * @param ended the claimed message, moved on by `deliver`, `requeue` or `fail`
   * @returns false when another worker has taken the message over: nothing is changed then
   */
  abstract settle(claimed: Message, ended: Message): Promise<boolean>;

  /**
   * Stores how jobs were ended elsewhere, each as a whole delivery: begun, and delivered or failed. Changes only
   * messages that are open, in the same round, and that no worker of ours has at hand. Of the attempts, the last is noted.
   * @returns how many it changed
   */
  abstract follow(ends: readonly JobEnd[]): Promise<number>;
}
