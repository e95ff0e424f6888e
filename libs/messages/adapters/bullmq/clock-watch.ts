import type { Pool } from 'pg';
import { PeriodicTask } from '#kernel/periodic-task.js';

interface ClockWatchOptions {
  readonly everyMs: number;
  /** Milliseconds by which the clocks may differ. */
  readonly toleranceMs: number;
}

/**
 * Compares this process's clock with the database's. BullMQ decides by the worker's clock whose lock has expired, so a
 * worker whose clock is ahead would take over jobs that others are running.
 */
export class ClockWatch {
  private readonly checks = new PeriodicTask(() => this.check());
  private isWrong = false;

  constructor(
    private readonly pool: Pool,
    private readonly options: ClockWatchOptions,
    /** Called with the difference in milliseconds when it exceeds the tolerance, and with null when it no longer does. */
    private readonly onChange: (aheadMs: number | null) => void,
  ) {}

  /** Resolves after the first check. */
  async start(): Promise<void> {
    this.checks.start(this.options.everyMs);
    await this.check();
  }

  close(): Promise<void> {
    return this.checks.close();
  }

  private async check(): Promise<void> {
    const aheadMs = await this.aheadMs().catch(() => null);
    // While the database is unavailable, no worker can take a job anyway.
    if (aheadMs === null) return;
    const isWrong = Math.abs(aheadMs) > this.options.toleranceMs;
    if (isWrong !== this.isWrong) this.onChange(isWrong ? aheadMs : null);
    this.isWrong = isWrong;
  }

  private async aheadMs(): Promise<number> {
    const before = Date.now();
    const { rows } = await this.pool.query<{ now: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
    );
    const now = rows[0]?.now ?? before;
    // It was read at some time between `before` and the response, however long that took.
    if (now < before) return before - now;
    return Math.min(0, Date.now() - now);
  }
}
