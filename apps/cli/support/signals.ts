import { EXIT } from './exit-codes.js';

/** Signals within this time count as one: a terminal and npx both pass on a Ctrl-C. */
const SAME_SIGNAL_MS = 500;

/** Calls this at each Ctrl-C and SIGTERM. @returns stops listening */
export function onStop(listener: () => void): () => void {
  let last = -Infinity;
  const onSignal = () => {
    if (performance.now() - last < SAME_SIGNAL_MS) return;
    last = performance.now();
    listener();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return () => process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
}

/** Aborts at the first Ctrl-C or SIGTERM. A second one ends the process. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  onStop(() => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  });
  return controller.signal;
}
