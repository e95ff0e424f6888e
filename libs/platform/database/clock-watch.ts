import { ALWAYS_ACTIVE, type Activity } from '#kernel/activity.js';
import type { BackgroundTask } from '#kernel/background-task.js';
import { databaseClock } from '#kernel/clock.js';
import type { Logger } from '../observability/logging.js';
import type { Metrics } from '../observability/metrics.js';
import type { Database } from './database.js';

/** How often the clocks are compared while the installation is quiet: that of the database may have been changed. */
const QUIET_COMPARE_EVERY_MS = 60_000;
/** By more than this, the clock of this process was changed. */
const MAX_DRIFT_MS = 100;

interface ClockWatchOptions {
  readonly everyMs: number;
  /** Milliseconds by which the clocks may differ. */
  readonly toleranceMs: number;
}

/**
 * Compares the clock of this machine with the database's, which `databaseClock` then follows. BullMQ decides by the
 * worker's machine whose lock has expired, so a worker whose clock is ahead would take over jobs that others are running.
 */
export class ClockWatch implements BackgroundTask {
  readonly intervalMs: number;
  private readonly listeners: ((isRight: boolean) => void)[] = [];
  /** Between the clock and a timer that nobody can change, at the last comparison. */
  private drift = Infinity;
  private comparedAt = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly options: ClockWatchOptions,
    metrics: Metrics,
    private readonly logger: Logger,
    private readonly activity: Pick<Activity, 'isQuiet'> = ALWAYS_ACTIVE,
  ) {
    this.intervalMs = options.everyMs;
    metrics.gauge(
      'sluice_clock_offset_seconds',
      "How far the clock of the process is ahead of the database's",
      () => databaseClock.aheadMs / 1_000,
    );
  }

  get isRight(): boolean {
    return Math.abs(databaseClock.aheadMs) <= this.options.toleranceMs;
  }

  onChange(listener: (isRight: boolean) => void): void {
    this.listeners.push(listener);
  }

  /** Compares once; while the installation is quiet only if this clock was changed, or after a while. */
  async run(): Promise<void> {
    const drift = Date.now() - performance.now();
    const isRecent = performance.now() - this.comparedAt < QUIET_COMPARE_EVERY_MS;
    if (this.activity.isQuiet && isRecent && Math.abs(drift - this.drift) < MAX_DRIFT_MS) return;
    const aheadMs = await this.measure().catch(() => null);
    // While the database is unavailable, no worker can take a job anyway.
    if (aheadMs === null) return;
    this.drift = drift;
    this.comparedAt = performance.now();
    const wasRight = this.isRight;
    databaseClock.aheadMs = aheadMs;
    if (this.isRight === wasRight) return;
    if (wasRight) {
      this.logger.error({ aheadMs }, "the clock differs from the database's: no jobs are taken until it is corrected");
    } else {
      this.logger.warn('the clock is right again');
    }
    for (const listener of this.listeners) listener(this.isRight);
  }

  /** @returns the difference so far if it can still be right, or else the next to it: times do not go back and forth */
  private async measure(): Promise<number> {
    const before = Date.now();
    const [row] = await this.database.query<{ now: number }>(
      'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
    );
    const now = row?.now ?? before;
    // It was read at some time between `before` and the response, however long that took.
    return Math.max(before - now, Math.min(databaseClock.aheadMs, Date.now() - now));
  }
}
