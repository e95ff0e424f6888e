import type { RelayFault, RelayObserver } from '#delivery/application/outbox-relay.js';

/** Takes note of what failed. */
export function observing(faults: RelayFault[]): RelayObserver {
  return { watch: () => undefined, relayed: () => undefined, failed: (fault) => faults.push(fault) };
}
