import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import type { CountUsage } from './count-usage.js';
import type { UsageLedger } from './usage-ledger.js';

/**
 * Counts what a deleted account has sent, before its messages are removed. The counts stay. Those of its last seconds may
 * be missing.
 */
export class ForgetUsage implements ForgetsAccounts {
  constructor(
    private readonly ledger: UsageLedger,
    private readonly countUsage: Pick<CountUsage, 'execute'>,
  ) {}

  async *forget(accountId: string): AsyncGenerator<void, boolean> {
    await this.ledger.makeDueOf(accountId);
    await this.countUsage.execute(new AbortController().signal);
    yield;
    await this.ledger.close(accountId);
    return true;
  }
}
