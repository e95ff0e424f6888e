import type { RateLimitWindow } from '#kernel/rate-limit-window.js';
import type { Limits } from '#kernel/limits.js';
import type { Windows } from '../domain/windows.js';

/** Requests of one key, to be admitted together or not at all. */
export interface Hit {
  readonly accountId: string;
  readonly keyId: string;
  /** The account's epoch when the key was looked up. */
  readonly epoch: number;
  readonly count: number;
  /** How many requests a retry counts, if that is more: a refusal says when they fit. */
  readonly retried?: number;
}

export interface RefusingVerdict {
  readonly kind: 'refused' | 'banned';
  readonly windows: readonly RateLimitWindow[];
  readonly retryInMs: number;
}

export type Verdict =
  | { readonly kind: 'admitted'; readonly windows: readonly RateLimitWindow[] }
  | RefusingVerdict
  /** The account has changed since the key was looked up: look it up again. Nothing was counted. */
  | { readonly kind: 'stale' };

export interface Usage {
  readonly limits: Limits;
  readonly windows: Windows;
  /** The time of the query in Unix milliseconds, by the same clock as the windows' ends. */
  readonly at: number;
}

/**
 * Counts requests by account, per minute and per day, and bans keys that continue after they were refused.
 *
 * Of any number of parallel hits, through any number of processes, exactly the limit is admitted: both counts, the
 * strikes, the ban and the check that the key is up to date are one atomic step. A crash of the database may lose the
 * counts of its last second. Refused requests count in no window.
 */
export abstract class Limiter {
  /** The refusal of a hit that is known from memory; null when only the store can decide. */
  abstract recall(hit: Hit): RefusingVerdict | null;

  /**
   * Decides about a hit. A refusal may come from memory, and is rechecked within a second.
   * @throws DomainError `unavailable` when it can't be counted; the request must not be served then
   */
  abstract hit(hit: Hit): Promise<Verdict>;

  abstract usage(accountId: string): Promise<Usage>;

  /** The windows of an account when this process last saw them; null when it has not seen them recently. */
  abstract lastKnownWindows(accountId: string): readonly RateLimitWindow[] | null;

  /** Deletes windows that ended more than a day ago: they are the same as windows that have counted nothing. */
  abstract deleteExpired(): Promise<void>;
}
