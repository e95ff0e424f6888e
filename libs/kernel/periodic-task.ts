/**
 * Repeats an asynchronous task in the background. Runs never overlap: one that takes longer than the interval delays the
 * next. toad-scheduler skips runs as well, but its `stop` does not wait for the run in progress.
 */
export class PeriodicTask {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<unknown> | null = null;
  private intervalMs: (() => number) | null = null;
  private startedAt = 0;

  /** @param run one run; it must handle its own errors and never reject */
  constructor(private readonly run: () => Promise<unknown>) {}

  /** @param intervalMs from the start of a run to the start of the next; a function is asked after each run */
  start(intervalMs: number | (() => number)): void {
    if (this.intervalMs !== null) return;
    this.intervalMs = typeof intervalMs === 'number' ? () => intervalMs : intervalMs;
    this.startedAt = performance.now();
    this.schedule();
  }

  /** Starts a run now, unless one is in progress. */
  trigger(): void {
    if (this.running !== null) return;
    clearTimeout(this.timer);
    this.startedAt = performance.now();
    this.running = this.run().finally(() => {
      this.running = null;
      this.schedule();
    });
  }

  /** Asks for the interval again, which may be shorter now. */
  adjust(): void {
    if (this.running === null) this.schedule();
  }

  /** Stops the timer and waits for the run in progress. */
  async close(): Promise<void> {
    this.intervalMs = () => Infinity;
    clearTimeout(this.timer);
    await this.running;
  }

  private schedule(): void {
    clearTimeout(this.timer);
    const intervalMs = this.intervalMs?.() ?? Infinity;
    if (intervalMs === Infinity) return;
    this.timer = setTimeout(
      () => {
        this.trigger();
      },
      Math.max(0, this.startedAt + intervalMs - performance.now()),
    );
  }
}
