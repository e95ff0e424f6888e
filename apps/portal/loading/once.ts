import { RateLimitError, SluiceError } from '#client/index.js';

/** The keys of requests without a known outcome, by what they send. */
export type Pending = Map<string, string>;

const ofPage: Pending = new Map();

/**
 * Sends a request with an `Idempotency-Key`: repeated after an unknown outcome, it has the same key for as long as it sends
 * the same, so that it is done once. A refusal does not say what became of the requests before.
 */
export async function once<T>(
  content: unknown,
  send: (idempotencyKey: string) => Promise<T>,
  pending = ofPage,
): Promise<T> {
  const sent = JSON.stringify(content);
  const before = pending.get(sent);
  const key = before ?? randomKey();
  pending.set(sent, key);
  try {
    const result = await send(key);
    pending.delete(sent);
    return result;
  } catch (error) {
    if (before === undefined && !isOutcomeUnknown(error)) pending.delete(sent);
    throw error;
  }
}

/** Whether this may have been done, and nobody knows. */
export function mayBeDone(content: unknown): boolean {
  return ofPage.has(JSON.stringify(content));
}

/** The next visitor repeats nothing of this one. */
export function forgetPending(): void {
  ofPage.clear();
}

function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof SluiceError && error.isRetryable && !(error instanceof RateLimitError);
}

/** `crypto.randomUUID` is missing on pages that were not loaded by HTTPS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('');
}
