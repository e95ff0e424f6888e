/**
 * Repeats an asynchronous task in the background. Runs never overlap: a tick during a run is skipped. toad-scheduler skips
 * them as well, but its `stop` does not wait for the run in progress.
 */
export class PeriodicTask {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<unknown> | null = null;

  /** @param run one run; it must handle its own errors and never reject */
  constructor(private readonly run: () => Promise<unknown>) {}

  start(intervalMs: number): void {
    this.timer ??= setInterval(() => {
      this.trigger();
    }, intervalMs);
  }

  /** Starts a run now, unless one is in progress. */
  trigger(): void {
    this.running ??= this.run().finally(() => (this.running = null));
  }

  /** Stops the timer and waits for the run in progress. */
  async close(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    await this.running;
  }
}
