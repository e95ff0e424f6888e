/** Timers can't be set for longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls a function when the signal is aborted, or at once if it is already. Many calls may share a signal, for which
 * Node.js would warn of a leak: it gets one listener for all of them.
 * @returns ends that
 */
export function onAbort(signal: AbortSignal | null | undefined, listener: () => void): () => void {
  if (!signal) return () => undefined;
  if (signal.aborted) listener();
  const known = listeners.get(signal);
  const all = known ?? new Set();
  if (known === undefined) {
    listeners.set(signal, all);
    signal.addEventListener('abort', () => {
      for (const one of [...all]) one();
    });
  }
  all.add(listener);
  return () => all.delete(listener);
}

/**
 * Resolves after this time. Rejects with the reason of the signal when that is aborted.
 * @param isIdle whether a process may end meanwhile
 */
export async function sleep(ms: number, signal?: AbortSignal, isIdle = false): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ignore = (): void => undefined;
  try {
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS));
      // Only timers of Node.js keep their process alive.
      if (isIdle) (timer as { unref?: () => unknown }).unref?.();
      ignore = onAbort(signal, resolve);
    });
  } finally {
    clearTimeout(timer);
    ignore();
  }
  throwIfAborted(signal);
}

/** Signals of polyfills, and of older DOMs in tests, have no such method, and no reason. */
export function throwIfAborted(signal: AbortSignal | null | undefined): void {
  if (signal?.aborted)
    throw (signal.reason as Error | undefined) ?? new DOMException('The call was aborted.', 'AbortError');
}

/** Does something with a signal that is aborted after this time, or with the caller's, and waits no longer for it. */
export async function within<T>(
  ms: number,
  reason: Error,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const ignore = onAbort(caller, () => {
    controller.abort(caller?.reason);
  });
  const timer = setTimeout(
    () => {
      controller.abort(reason);
    },
    Math.min(ms, MAX_TIMER_MS),
  );
  try {
    return await new Promise<T>((resolve, reject) => {
      // What is passed as `fetch` may ignore the signal.
      onAbort(controller.signal, () => {
        reject(controller.signal.reason as Error);
      });
      work(controller.signal).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    ignore();
  }
}

/** "Full jitter": anything from 0 to a bound that doubles with each try. */
export function backoffMs(tries: number): number {
  return Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (tries - 1));
}

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 20_000;
