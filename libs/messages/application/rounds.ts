/** Work that is done over and over in the background, one round at a time: while one takes longer, the next is left out. */
export class Rounds {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<unknown> | null = null;

  /** @param run one round; what fails in it is its own to tell: it must not reject */
  constructor(private readonly run: () => Promise<unknown>) {}

  start(intervalMs: number): void {
    this.timer = setInterval(() => {
      this.begin();
    }, intervalMs);
  }

  /** Begins a round now, unless one is under way. */
  begin(): void {
    this.running ??= this.run().finally(() => (this.running = null));
  }

  /** Begins no more rounds, and resolves when the one that is under way has ended. */
  async close(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    await this.running;
  }
}
