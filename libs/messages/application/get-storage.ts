import type { Storage } from '#rate-limiting/index.js';
import type { StorageLedger } from './storage-ledger.js';

export class GetStorage {
  /** @param capBytes 0 for none */
  constructor(
    private readonly ledger: StorageLedger,
    private readonly capBytes: number,
  ) {}

  async execute(accountId: string): Promise<Storage> {
    const totals = await this.ledger.totals([accountId]);
    return { limitBytes: this.capBytes === 0 ? null : this.capBytes, usedBytes: totals.get(accountId) ?? 0 };
  }
}
