/**
 * When the next attempt starts after an error of a handler: `never`, after a number of milliseconds, or null for the
 * time from the settings. Errors are distinguished by their names, because a handler outside of Sluice has its own
 * classes.
 */
export function nextAttemptAfter(error: unknown): number | 'never' | null {
  try {
    if (!(error instanceof Error)) return null;
    if (error.name === 'GiveUp') return 'never';
    return error.name === 'RetryDelivery' && 'afterMs' in error ? Number(error.afterMs) : null;
  } catch {
    // Anything can be thrown, even an error whose properties throw.
    return null;
  }
}
