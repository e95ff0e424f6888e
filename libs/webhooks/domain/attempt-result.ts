import type { AutomaticReason, Endpoint } from './endpoint.js';

const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;
const GONE = 410;

/** Waits are extended by up to a tenth, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;
/** The longest time without any attempt after which an endpoint that failed before still counts as failing. */
const MAX_SILENCE_MS = 86_400_000;
/** The longest wait that a receiver can request with Retry-After. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/** The parts of a response that matter for retries. */
export interface Received {
  /** Null without a response. */
  readonly status: number | null;
  /** What `Retry-After` asks for; null without it. */
  readonly retryAfterMs: number | null;
}

/** Whether a delivery has arrived: only 2xx says so, and redirects are not followed. */
export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/**
 * When a failed attempt is repeated.
 * @param failures attempts that have failed, this one included
 * @param retrySeconds the waits before the second and each further attempt
 * @param random a number in [0, 1)
 * @returns milliseconds until the next attempt; null when there is none
 */
export function nextAttemptIn(
  { status, retryAfterMs }: Received,
  failures: number,
  retrySeconds: readonly number[],
  random: number,
): number | null {
  const seconds = retrySeconds[failures - 1];
  if (status === GONE || seconds === undefined) return null;
  const mayAsk = status === TOO_MANY_REQUESTS || status === UNAVAILABLE;
  const askedMs = mayAsk ? Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) : 0;
  return Math.max(Math.round(seconds * 1_000 * (1 + JITTER * random)), askedMs);
}

/**
 * For how long a failure counts as one of a series. Without another one until then, nothing is known of the endpoint: its
 * account may have been paused, or have sent nothing.
 * @param retryMs the wait for the next attempt; 0 when there is none
 */
export function forgottenAfter(retryMs: number, disableAfterMs: number): number {
  return retryMs + Math.min(MAX_SILENCE_MS, disableAfterMs);
}

/**
 * Why a failed attempt disables its endpoint; null when it does not.
 * @param endpoint as it is now; its account may have changed it since the request was sent
 * @param revision of the endpoint to which the request was sent
 */
export function disablesBecause(
  endpoint: Pick<Endpoint, 'revision' | 'failingSince' | 'failingUntil'>,
  request: { status: number | null; revision: number; now: Date; disableAfterMs: number },
): AutomaticReason | null {
  const { status, revision, now, disableAfterMs } = request;
  if (endpoint.revision !== revision) return null;
  if (status === GONE) return 'gone';
  const { failingSince, failingUntil } = endpoint;
  if (failingSince === null || (failingUntil !== null && failingUntil < now)) return null;
  return now.getTime() - failingSince.getTime() >= disableAfterMs ? 'failing' : null;
}
