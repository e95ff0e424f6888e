import { PeriodicTask } from '#kernel/periodic-task.js';

const EVERY_MS = 5_000;
const STUCK_AFTER_MS = 30_000;

/**
 * Notices that a worker with free slots takes no jobs although some wait: the same job, which any worker would take
 * next, remains the first in the queue.
 */
export class StuckWatch {
  private readonly checks = new PeriodicTask(() => this.check().catch(() => undefined));
  private first: string | null = null;
  private since = 0;
  private stuck = false;

  constructor(
    /** The job that is taken next; null when none is to be taken. */
    private readonly firstJob: () => Promise<string | null>,
    private readonly onStuck: () => void,
  ) {}

  get isStuck(): boolean {
    return this.stuck;
  }

  start(): void {
    this.checks.start(EVERY_MS);
  }

  close(): Promise<void> {
    return this.checks.close();
  }

  /** The worker has taken a job. */
  took(): void {
    this.first = null;
    this.stuck = false;
  }

  private async check(): Promise<void> {
    const first = await this.firstJob();
    if (first !== this.first) {
      this.first = first;
      this.since = performance.now();
    }
    const wasStuck = this.stuck;
    this.stuck = first !== null && performance.now() - this.since >= STUCK_AFTER_MS;
    if (this.stuck && !wasStuck) this.onStuck();
  }
}
