import type { Pool } from 'pg';

interface ClockWatchOptions {
  readonly everyMs: number;
  /** Milliseconds by which the clocks may differ. */
  readonly toleranceMs: number;
}

/**
 * Compares this process's clock with the database's. BullMQ tells by the worker's clock whose lock has expired, so one
 * that runs ahead would take the jobs of all others away while they run them.
 */
export class ClockWatch {
  private timer: NodeJS.Timeout | null = null;
  private looking = false;
  private wrong = false;

  constructor(
    private readonly pool: Pool,
    private readonly options: ClockWatchOptions,
    /** Called with how far the clock is ahead, in milliseconds, when it goes wrong; with null when it is right again. */
    private readonly report: (aheadMs: number | null) => void,
  ) {}

  /** Resolves when it has looked for the first time. */
  async start(): Promise<void> {
    this.timer = setInterval(() => void this.look(), this.options.everyMs);
    await this.look();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    const aheadMs = await this.aheadMs().catch(() => null);
    this.looking = false;
    // A database that doesn't answer lets nobody take a job either.
    if (aheadMs === null) return;
    const wrong = Math.abs(aheadMs) > this.options.toleranceMs;
    if (wrong !== this.wrong) this.report(wrong ? aheadMs : null);
    this.wrong = wrong;
  }

  private async aheadMs(): Promise<number> {
    const asked = Date.now();
    const { rows } = await this.pool.query<{ now: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
    );
    const told = rows[0]?.now ?? asked;
    // It was told somewhere between these two, however long that took.
    if (told < asked) return asked - told;
    return Math.min(0, Date.now() - told);
  }
}
