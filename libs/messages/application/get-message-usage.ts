import type { Backlog, Backlogs } from './backlogs.js';
import type { StorageLedger } from './storage-ledger.js';

/** The size of an account's stored messages. */
export interface Storage {
  /** Null when there is no limit. */
  readonly limitBytes: number | null;
  readonly usedBytes: number;
}

export interface MessageUsage {
  readonly messages: Backlog;
  readonly storage: Storage;
}

export class GetMessageUsage {
  /** @param capBytes 0 for no limit */
  constructor(
    private readonly backlogs: Backlogs,
    private readonly ledger: StorageLedger,
    private readonly capBytes: number,
  ) {}

  async execute(accountId: string): Promise<MessageUsage> {
    // In turn: the backlog waits for the account's other reads, the rest need not.
    const messages = await this.backlogs.of(accountId);
    const totals = await this.ledger.totals([accountId]);
    const limitBytes = this.capBytes === 0 ? null : this.capBytes;
    return { messages, storage: { limitBytes, usedBytes: totals.get(accountId) ?? 0 } };
  }
}
