import { LRUCache } from 'lru-cache';
import { DeliveryTargets, type Sender } from '#messages/index.js';
import type { Endpoints } from './endpoints.js';

const MAX_CACHED = 10_000;

interface Entry {
  readonly epoch: number;
  readonly ids: readonly string[];
}

/** Cached until the epoch of the account moves, which every change of its endpoints does. */
export class EndpointTargets extends DeliveryTargets {
  private readonly cache = new LRUCache<string, Entry>({ max: MAX_CACHED });

  constructor(private readonly endpoints: Pick<Endpoints, 'enabledIds'>) {
    super();
  }

  async of({ accountId, epoch }: Sender): Promise<readonly string[]> {
    const cached = this.cache.get(accountId);
    if (cached?.epoch === epoch) return cached.ids;
    const ids = await this.endpoints.enabledIds(accountId);
    // A request that was authenticated earlier must not replace what a later one has found.
    if (epoch >= (this.cache.get(accountId)?.epoch ?? 0)) this.cache.set(accountId, { epoch, ids });
    return ids;
  }
}
