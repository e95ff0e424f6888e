import type { AutomaticReason, Endpoint } from './endpoint.js';
import { retryAfterMs, retryDelay } from './retry-delay.js';

const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;
const GONE = 410;

/** The parts of a response that matter for retries; the status is null without a response. */
export interface Received {
  readonly status: number | null;
  readonly retryAfter: string | null;
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
  { status, retryAfter }: Received,
  failures: number,
  retrySeconds: readonly number[],
  now: Date,
  random: number,
): number | null {
  if (status === GONE) return null;
  const isAsked = status === TOO_MANY_REQUESTS || status === UNAVAILABLE;
  return retryDelay(retrySeconds, failures, isAsked ? retryAfterMs(retryAfter, now) : 0, random);
}

/**
 * Why a failed attempt disables its endpoint; null when it does not.
 * @param endpoint as it is now; its account may have changed it since the request was sent
 * @param revision of the endpoint to which the request was sent
 */
export function disablesBecause(
  endpoint: Pick<Endpoint, 'revision' | 'failingSince'>,
  request: { status: number | null; revision: number; now: Date; disableAfterMs: number },
): AutomaticReason | null {
  const { status, revision, now, disableAfterMs } = request;
  if (endpoint.revision !== revision) return null;
  if (status === GONE) return 'gone';
  const { failingSince } = endpoint;
  return failingSince !== null && now.getTime() - failingSince.getTime() >= disableAfterMs ? 'failing' : null;
}
