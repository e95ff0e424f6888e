import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for a promise for a limited time. The promise itself is not cancelled; a late rejection is ignored.
 * @param onTimeout called when the time is up: what it returns is the result, what it throws the rejection
 */
export async function withTimeout<T, U>(promise: Promise<T>, timeoutMs: number, onTimeout: () => U): Promise<T | U> {
  const cancel = new AbortController();
  try {
    return await Promise.race([promise, sleep(timeoutMs, undefined, { signal: cancel.signal }).then(onTimeout)]);
  } finally {
    cancel.abort();
  }
}
