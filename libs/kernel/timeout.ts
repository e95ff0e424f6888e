/**
 * Waits for a promise for a limited time. The promise itself is not cancelled; a late rejection is ignored. p-timeout does
 * the same, but needs Node.js 22, and its early end is always an error.
 * @param onTimeout called when the time is up: what it returns is the result, what it throws the rejection
 * @param early ends the wait early when it aborts
 */
export async function withTimeout<T, U>(
  promise: Promise<T>,
  timeoutMs: number,
  onTimeout: () => U,
  early?: AbortSignal,
): Promise<T | U> {
  let timer: NodeJS.Timeout | undefined;
  let end = (): void => undefined;
  // Not the timer of node:timers/promises: aborting it costs 100 µs, for each delivery.
  const timeout = new Promise<void>((resolve) => {
    end = resolve;
    timer = setTimeout(resolve, timeoutMs);
    early?.addEventListener('abort', end);
  }).then(onTimeout);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
    early?.removeEventListener('abort', end);
  }
}
