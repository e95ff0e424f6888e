import type { Limits } from '#accounts/index.js';
import type { RateLimitWindow } from '#platform/http/rate-limit-headers.js';
import type { Windows } from './windows.js';

/** Requests of one key that want to pass, together or not at all. */
export interface Hit {
  readonly accountId: string;
  readonly keyId: string;
  /** The account's epoch when the key was looked up. */
  readonly epoch: number;
  readonly count: number;
}

export interface RefusingVerdict {
  readonly kind: 'refused' | 'banned';
  readonly windows: readonly RateLimitWindow[];
  readonly retryInMs: number;
}

export type Verdict =
  | { readonly kind: 'admitted'; readonly windows: readonly RateLimitWindow[] }
  | RefusingVerdict
  /** The key was looked up before something changed: look it up again. Nothing was counted. */
  | { readonly kind: 'stale' };

export interface Usage {
  readonly limits: Limits;
  readonly windows: Windows;
  /** When this was so, in Unix milliseconds by the same clock as the windows' ends. */
  readonly at: number;
}

/**
 * Counts requests by account, in a minute and a day at once, and bans keys that go on after they were refused.
 *
 * Of any number of parallel hits, through any number of processes, exactly the limit is admitted: the check, both
 * counts, strikes and ban are one atomic step, which also tells whether what is known of the key still holds. Counts
 * may be lost with the last second before a crash of the database. What is refused counts in no window.
 */
export abstract class PlanThrottlerStorage {
  /** What a hit would be told from memory, so that it need not be made; null where the store must be asked. */
  abstract recall(hit: Hit): RefusingVerdict | null;

  /**
   * A refusal may come from memory, and is rechecked within a second.
   * @throws DomainError `unavailable` when it can't be counted; it then passes nowhere
   */
  abstract hit(hit: Hit): Promise<Verdict>;

  abstract usage(accountId: string): Promise<Usage>;

  /** The windows that an account was last told of; null for one that this process hasn't seen lately. */
  abstract lastTold(accountId: string): readonly RateLimitWindow[] | null;

  /** Forgets windows that ended more than a day ago, which nobody can tell from windows that have counted nothing. */
  abstract forget(): Promise<void>;
}
