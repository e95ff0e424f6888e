import type { Partitions, Period } from './partitions.js';
import { PeriodicTask } from '#kernel/periodic-task.js';

const DAY_MS = 86_400_000;
/** Days for which there is always room ahead, so that no trouble with the store is soon trouble with its periods. */
const AHEAD_DAYS = 7;

export interface Retained {
  /** Periods whose messages were removed. */
  readonly removed: readonly Period[];
  /** Messages of no period that were removed. */
  readonly stragglers: number;
}

/** Removes messages that were created long ago and are final, and keeps room for those to come. */
export class ApplyRetention {
  private readonly rounds = new PeriodicTask(() => this.execute().then(this.report, this.report));
  private closed = false;

  /** @param days that a message is kept at least after it was created */
  constructor(
    private readonly partitions: Partitions,
    private readonly days: number,
    private readonly report: (result: Retained | Error) => void,
  ) {}

  /** Runs now, and every so many milliseconds. */
  start(intervalMs: number): void {
    this.rounds.start(intervalMs);
    this.rounds.trigger();
  }

  /** Ends after the step that is under way: the rest is left to the next run, of whatever process. */
  async close(): Promise<void> {
    this.closed = true;
    await this.rounds.close();
  }

  async execute(): Promise<Retained> {
    const { now, periods } = await this.partitions.list();
    await this.addAhead(now, periods.at(-1)?.until ?? now);
    const end = new Date(now.getTime() - this.days * DAY_MS);
    const over = periods.filter(({ until }) => until <= end);
    const removed: Period[] = [];
    for (const period of over) {
      if (this.closed) break;
      if (await this.partitions.empty(period)) removed.push(period);
    }
    for (const period of over) {
      // Only from the oldest on, since there is no gap between them: one that is kept keeps those after it.
      if (this.closed || !(await this.partitions.remove(period))) break;
    }
    return { removed, stragglers: this.closed ? 0 : await this.partitions.removeStragglers(end) };
  }

  private async addAhead(now: Date, last: Date): Promise<void> {
    const widthMs = Math.ceil(this.days / 10) * DAY_MS;
    const today = now.getTime() - (now.getTime() % DAY_MS);
    let from = last;
    while (from.getTime() < now.getTime() + AHEAD_DAYS * DAY_MS && !this.closed) {
      // What was missed while no process ran is one period with what comes next.
      const until = new Date(Math.max(from.getTime(), today) + widthMs);
      if (!(await this.partitions.add({ from, until }))) return;
      from = until;
    }
  }
}
