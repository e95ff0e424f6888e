import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '#platform/usage-error.js';
import type { Guarantee } from './check-guarantees.js';
import type { Service } from './service.js';

const PAUSE_MS = 200;
const PATIENCE_MS = 60_000;

/** Who gets the messages of the account while they are verified. */
export interface Consumers {
  has(id: string): boolean;
  /** What they have found besides. */
  readonly guarantees: readonly Guarantee[];
  /** Ends them, and gives the account back what it had. */
  stop(): Promise<void>;
}

/**
 * Changes how messages of the account are delivered.
 * @param scopes that the key needs
 * @returns changes it back
 * @throws UsageError when the key may not do that
 */
export async function switchDelivery(service: Service, delivery: string, scopes: string): Promise<() => Promise<void>> {
  const { body: account } = await service.get('/account', 0);
  const changed = await service.send('PATCH', '/account', { delivery }, 0);
  if (changed.status !== 200) throw new UsageError(`With --consume ${delivery}, the key needs ${scopes}.`);
  return () => untilDone(service, 'PATCH', '/account', { delivery: account?.delivery });
}

/** Repeats a request while the service is away. */
export async function untilDone(service: Service, method: string, path: string, body: object): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let attempt = 0; performance.now() < deadline; attempt++) {
    const response = await service.send(method, path, body, attempt).catch(() => null);
    // One that was done, but whose response was lost, may find nothing to delete.
    if (response !== null && (response.status < 300 || response.status === 404)) return;
    await sleep(PAUSE_MS);
  }
}
