import { toPlainLine } from '#kernel/text.js';

/** The error of an attempt that is `lost` although its worker has only been stopped or busy, and went on. */
export const WORKER_STALLED = 'worker_stalled';

/**
 * How an attempt to deliver a message ended, or `running`. A `retried` attempt is followed by another one, a `failed`
 * one is not. A `lost` attempt had a worker that was silent for too long, and another worker took the message over.
 */
export const ATTEMPT_OUTCOMES = ['running', 'delivered', 'retried', 'failed', 'lost'] as const;
type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Characters of the reason why an attempt failed. */
export const MAX_REASON_LENGTH = 1_000;

/**
 * The reason of a failure as it is stored, from any source.
 * @param unknown the reason if the text has none: nothing, white space or control characters
 */
export function toReason(text: string, unknown: string): string {
  const reason = toPlainLine(text, MAX_REASON_LENGTH);
  return reason.trim() === '' ? unknown : reason;
}

export interface Attempt {
  /** From 1, over the whole life of the message. */
  readonly number: number;
  /** Who made it: `handler`, `worker` for one of another program, `pull` for a lease, or the id of an endpoint. */
  readonly target: string;
  readonly startedAt: Date;
  /** Null while it runs, and when its worker was lost. */
  readonly durationMs: number | null;
  readonly outcome: AttemptOutcome;
  /** Why it was retried or failed; null otherwise. */
  readonly error: string | null;
  /** What an endpoint answered: the HTTP status, and the beginning of the body; null without an answer. */
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
}
