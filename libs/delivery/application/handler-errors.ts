/**
 * When the next attempt starts after an error of a handler: `never`, after milliseconds, or null for when the settings
 * say. Errors are told apart by their names, because a handler that is not part of Sluice has classes of its own.
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
