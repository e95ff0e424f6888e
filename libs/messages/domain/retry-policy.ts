/** When a failed attempt is repeated, and when no longer. */
export interface RetryPolicy {
  /** Attempts that may fail before the message is failed for good, at least 1. */
  readonly maxAttempts: number;
  /** Milliseconds before the second attempt; the wait doubles with each further one. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
}

/** A message that was taken over this often may be killing its workers, and runs alone. */
export const SUSPECT_AFTER_CRASHES = 2;
/**
 * How many take-overs of a message do not count as crashes after all, because its worker had only been stopped or busy and
 * went on. Bounded, because the message itself may keep its workers busy.
 */
export const MAX_EXCUSED = 3;
/** A message that kills its worker this often while it runs alone is a poison message, and fails. */
export const POISON_AFTER_LONE_CRASHES = 3;

/**
 * Milliseconds to wait after the n-th failure (n from 1): exponential with "equal jitter", so that messages that
 * failed together are not retried together. A handler may name another wait: see RetryDelivery.
 * @param random a number in [0, 1)
 */
export function backoff(policy: RetryPolicy, failures: number, random: number): number {
  const ceiling = Math.min(policy.maxBackoffMs, policy.backoffMs * 2 ** (failures - 1));
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}
