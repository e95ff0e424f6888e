import { lowestId } from '#kernel/ids.js';
import { whileMore, type CountUsage } from './count-usage.js';
import type { UsageLedger } from './usage-ledger.js';

/** Counts what is going to be removed: afterwards, nothing but the counts tells of it. */
export class SettleUsage {
  constructor(
    private readonly ledger: UsageLedger,
    private readonly countUsage: Pick<CountUsage, 'execute'>,
  ) {}

  /**
   * Counts the messages that were accepted in a time span, and looks once more how they have ended.
   * @returns whether all are counted; otherwise they must not be removed
   * @throws DomainError `unavailable`
   */
  async execute({ from, until }: { readonly from: Date; readonly until: Date }, signal: AbortSignal): Promise<boolean> {
    await whileMore(signal, () => this.ledger.makeDue(from, until));
    await this.countUsage.execute(signal);
    return !signal.aborted && (await this.ledger.hasCounted(lowestId('msg', until)));
  }
}
