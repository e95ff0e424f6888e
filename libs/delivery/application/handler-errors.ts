import { toReason } from '#messages/index.js';

/**
 * When the next attempt starts after an error of a handler: `never`, after a number of milliseconds, or null for the
 * time from the settings. Errors are distinguished by their names, because a handler outside of Sluice has its own
 * classes, or throws plain objects.
 * @param maxMs the longest wait. It is also that of an invalid time: a handler may have computed it from a remote response.
 */
export function nextAttemptAfter(error: unknown, maxMs: number): number | 'never' | null {
  try {
    const { name, afterMs: wanted } = fieldsOf(error);
    if (name === 'GiveUp') return 'never';
    if (name !== 'RetryDelivery' || wanted === undefined) return null;
    const afterMs = Number(wanted);
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
    const { message = error } = fieldsOf(error);
    return String(message);
  } catch {
    return '';
  }
}

function fieldsOf(error: unknown): { readonly name?: unknown; readonly message?: unknown; readonly afterMs?: unknown } {
  return Object(error) as object;
}
