import type { BackgroundTask } from '#kernel/background-task.js';
import type { SettleUsage } from '#usage/index.js';
import type { Partitions, Period } from './partitions.js';

const DAY_MS = 86_400_000;
/** Periods are created this far in advance, so that a few failed runs do no harm. */
const AHEAD_DAYS = 7;

/** Into about so many periods the messages that are kept are divided. */
const PERIODS_KEPT = 10;

export interface Retained {
  /** Periods whose messages were removed. */
  readonly removed: readonly Period[];
  /** Messages outside of all periods that were removed. */
  readonly stragglers: number;
  /** Why some of what was due is left to the next run. */
  readonly faults: readonly unknown[];
}

export interface RetentionObserver {
  ran(result: Retained): void;
}

/** Removes old messages that are final and counted, and adds periods for new ones. */
export class ApplyRetention implements BackgroundTask {
  readonly intervalMs = 3_600_000;

  /** @param days how long a message is kept after it was created */
  constructor(
    private readonly partitions: Partitions,
    private readonly usage: Pick<SettleUsage, 'execute'>,
    private readonly days: number,
    private readonly observer: RetentionObserver,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    const failed = (error: unknown) => ({ removed: [], stragglers: 0, faults: [error] });
    this.observer.ran(await this.execute(signal).catch(failed));
  }

  /** @param signal when it aborts, the rest is left to the next run, of any process */
  async execute(signal: AbortSignal): Promise<Retained> {
    const faults: unknown[] = [];
    /** A step that fails holds up no other one. */
    const tried = <Result>(step: Promise<Result>, otherwise: Result): Promise<Result> =>
      step.catch((error: unknown) => {
        faults.push(error);
        return otherwise;
      });
    const { now, periods } = await this.partitions.list();
    await tried(this.addAhead(now, periods.at(-1)?.until ?? now, signal), undefined);
    const end = new Date(now.getTime() - this.days * DAY_MS);
    const expired = periods.filter(({ until }) => until <= end);
    const removed: Period[] = [];
    for (const period of expired) {
      if (signal.aborted) break;
      if (await tried(this.empty(period, signal), false)) removed.push(period);
    }
    for (const period of expired) {
      // Periods have no gaps, so those after a kept one are kept as well.
      if (signal.aborted || !(await tried(this.partitions.remove(period), false))) break;
    }
    return { removed, stragglers: await tried(this.removeStragglers(end, signal), 0), faults };
  }

  private async empty(period: Period, signal: AbortSignal): Promise<boolean> {
    const isCounted = await this.usage.execute(period, signal);
    if (signal.aborted) return false;
    if (!isCounted) throw new Error('The usage of old messages is not counted yet.');
    return this.partitions.empty(period);
  }

  private async removeStragglers(before: Date, signal: AbortSignal): Promise<number> {
    let removed = 0;
    while (!signal.aborted) {
      const some = await this.partitions.removeStragglers(before);
      if (some === 0) break;
      removed += some;
    }
    return removed;
  }

  private async addAhead(now: Date, last: Date, signal: AbortSignal): Promise<void> {
    const widthMs = Math.ceil(this.days / PERIODS_KEPT) * DAY_MS;
    const today = now.getTime() - (now.getTime() % DAY_MS);
    let from = last;
    while (from.getTime() < now.getTime() + AHEAD_DAYS * DAY_MS && !signal.aborted) {
      // The first period after an outage also covers the time of the outage.
      const until = new Date(Math.max(from.getTime(), today) + widthMs);
      if (!(await this.partitions.add({ from, until }))) return;
      from = until;
    }
  }
}
