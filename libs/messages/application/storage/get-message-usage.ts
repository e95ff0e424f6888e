import type { Backlog, Backlogs } from '../backlogs.js';
import { capOf, type StorageLimits } from './storage-cap.js';
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
  constructor(
    private readonly backlogs: Backlogs,
    private readonly ledger: StorageLedger,
    private readonly limits: StorageLimits,
  ) {}

  async execute(accountId: string): Promise<MessageUsage> {
    // One after another: the backlog waits for the account's other reads, the rest need not.
    const messages = await this.backlogs.of(accountId);
    const totals = await this.ledger.totals([accountId]);
    const total = totals.get(accountId);
    const cap = capOf(this.limits, total);
    return { messages, storage: { limitBytes: cap === Infinity ? null : cap, usedBytes: total?.bytes ?? 0 } };
  }
}
