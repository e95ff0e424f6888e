import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import type { BackgroundTask } from '#kernel/background-task.js';
import { lowestId } from '#kernel/ids.js';
import { PERIOD_MS } from '../domain/usage-period.js';
import type { UsageLedger } from './usage-ledger.js';

/**
 * Messages are counted when they are this old: nearly all are stored by then, although it is the API that dates them and
 * the store that keeps them.
 */
const LAG_MS = 10_000;

/** One process counts at a time. */
const ROUND_MS = 10_000;

/** While the installation is quiet, each n-th round is made even if there seems to be nothing to count. */
const RARELY = 20;

export interface UsageObserver {
  /** Transactions that may store messages have not ended. The next round tries again. */
  delayed(): void;
  /** The next round tries again. */
  failed(error: unknown): void;
}

/** Counts accepted messages by account and hour, and keeps up with how they end. */
export class CountUsage implements BackgroundTask {
  readonly intervalMs = 15_000;
  readonly quietIntervalMs = 45_000;
  private rounds = 0;

  /** @param days how long counts are kept */
  constructor(
    private readonly ledger: UsageLedger,
    private readonly days: number,
    private readonly observer: UsageObserver,
    private readonly activity = ALWAYS_ACTIVE,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    try {
      if (this.rounds++ % RARELY > 0 && this.activity.isQuiet && !(await this.ledger.hasWork())) return;
      if (!(await this.execute(signal, ROUND_MS))) return;
      const now = await this.ledger.now();
      const oldest = now.getTime() - (now.getTime() % PERIOD_MS.day) - this.days * PERIOD_MS.day;
      await whileMore(signal, () => this.ledger.remove(new Date(oldest)));
    } catch (error) {
      this.observer.failed(error);
    }
  }

  /**
   * Counts what was accepted until a few seconds ago.
   * @param everyMs does nothing if a process has begun to count within this time
   * @param lagMs how old messages must be; of older ones, those stored from now on are counted one by one
   * @returns whether it did
   * @throws DomainError `unavailable`
   */
  async execute(signal: AbortSignal, everyMs = 0, lagMs = LAG_MS): Promise<boolean> {
    const now = await this.ledger.now();
    const id = lowestId('msg', new Date(now.getTime() - lagMs));
    if (!(await this.ledger.announce(id, everyMs))) return false;
    if (await this.ledger.othersEnded(signal)) await whileMore(signal, () => this.ledger.count(id));
    else if (!signal.aborted) this.observer.delayed();
    await whileMore(signal, () => this.ledger.countLate());
    await whileMore(signal, async () => {
      const hours = await this.ledger.due();
      if (hours.length > 0) await this.ledger.recount(hours);
      return hours.length > 0;
    });
    return true;
  }
}

export async function whileMore(signal: AbortSignal, step: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted && (await step()));
}
