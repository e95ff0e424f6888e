import { EXIT } from './exit-codes.js';

/** Signals within this time count as one: a terminal and npx both pass on a Ctrl-C. */
const SAME_SIGNAL_MS = 500;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls this at each Ctrl-C, SIGTERM, and when the terminal is closed. */
export function onStop(listener: () => void): void {
  let last = -Infinity;
  const onSignal = () => {
    if (performance.now() - last < SAME_SIGNAL_MS) return;
    last = performance.now();
    listener();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

/** Aborts at the first of these signals. A second one ends the process. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  onStop(() => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  });
  return controller.signal;
}
