import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import type { CountUsage } from './count-usage.js';
import type { UsageLedger } from './usage-ledger.js';

/** Of one step: a transaction that does not end holds up the counting, but no other deletion. */
const STEP_MS = 500;
/** Its keys are unknown. The few of its messages that are stored later are counted one by one. */
const LAG_MS = 1_000;
/** After this time, messages are removed although some of them are not counted. */
const MAX_WAIT_MS = 30_000;

/** Counts what a deleted account has sent, before its messages are removed. The counts stay. */
export class ForgetUsage implements ForgetsAccounts {
  constructor(
    private readonly ledger: UsageLedger,
    private readonly countUsage: Pick<CountUsage, 'execute'>,
  ) {}

  async *forget(accountId: string): AsyncGenerator<void, boolean> {
    const deadline = performance.now() + MAX_WAIT_MS;
    await this.ledger.makeDueOf(accountId);
    do {
      await this.countUsage.execute(AbortSignal.timeout(STEP_MS), 0, LAG_MS);
      yield;
    } while (performance.now() < deadline && (await this.ledger.hasUncounted(accountId)));
    await this.ledger.close(accountId);
    return true;
  }
}
