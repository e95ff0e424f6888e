import { setTimeout as sleep } from 'node:timers/promises';
import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import type { CountUsage } from './count-usage.js';
import type { UsageLedger } from './usage-ledger.js';

const PAUSE_MS = 200;

/** Counts what a deleted account has sent, before its messages are removed. The counts stay. */
export class ForgetUsage implements ForgetsAccounts {
  constructor(
    private readonly ledger: UsageLedger,
    private readonly countUsage: Pick<CountUsage, 'execute'>,
  ) {}

  async *forget(accountId: string): AsyncGenerator<void, boolean> {
    const { signal } = new AbortController();
    await this.ledger.makeDueOf(accountId);
    // Messages are counted when they are some seconds old.
    for (; await this.ledger.hasUncounted(accountId); yield) {
      await this.countUsage.execute(signal);
      await sleep(PAUSE_MS);
    }
    await this.ledger.close(accountId);
    return true;
  }
}
