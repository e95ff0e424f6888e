import { toReason } from '#messages/index.js';

/**
 * When the next attempt starts after an error of a handler: `never`, after a number of milliseconds, or null for the
 * time from the settings. Errors are distinguished by their names, because a handler outside of Sluice has its own
 * classes.
 * @param maxMs the longest wait. It is also that of an invalid time: a handler may have computed it from a remote response.
 */
export function nextAttemptAfter(error: unknown, maxMs: number): number | 'never' | null {
  try {
    if (!(error instanceof Error)) return null;
    if (error.name === 'GiveUp') return 'never';
    if (error.name !== 'RetryDelivery' || !('afterMs' in error)) return null;
    const afterMs = Number(error.afterMs);
    return Number.isNaN(afterMs) ? maxMs : Math.round(Math.min(Math.max(afterMs, 0), maxMs));
  } catch {
    // Anything can be thrown, even an error whose properties throw.
    return null;
  }
}

/** Why an attempt failed, in one line, from what a handler has thrown. */
export function reasonOf(error: unknown): string {
  return toReason(textOf(error), 'The handler failed without a reason.');
}

// Anything can be thrown, even an object whose `message` or `toString` throws.
function textOf(error: unknown): string {
  try {
    const message: unknown = error instanceof Error ? error.message : error;
    return String(message);
  } catch {
    return '';
  }
}
