import type { Activity } from './activity.js';
import { PeriodicTask } from './periodic-task.js';

/** Work that a process repeats in the background. `apps/background.ts` lists all of it. */
export interface BackgroundTask {
  /**
   * Milliseconds from the start of a run to the start of the next. A run is skipped while the previous one is in
   * progress.
   */
  readonly intervalMs: number;

  /** The same while the installation is quiet; like `intervalMs` if undefined. */
  readonly quietIntervalMs?: number;

  /**
   * One run. It handles its own errors and never rejects.
   * @param signal aborted when the process stops: end after the current step
   */
  run(signal: AbortSignal): Promise<unknown>;

  /** What is left to do after the last run, when the process stops. It handles its own errors and never rejects. */
  finish?(): Promise<unknown>;
}

/** After the interval, at once without waiting for its end, or at once, so that the start resolves after it. */
type FirstRun = 'after the interval' | 'at once' | 'before the start resolves';

/** Runs a task from the start of a process to its stop. */
export class RepeatedTask {
  private readonly stopping = new AbortController();
  private readonly runs: PeriodicTask;

  constructor(
    private readonly task: BackgroundTask,
    private readonly activity: Pick<Activity, 'isQuiet' | 'onWake'>,
    private readonly firstRun: FirstRun = 'after the interval',
  ) {
    this.runs = new PeriodicTask(() => task.run(this.stopping.signal));
  }

  async start(): Promise<void> {
    if (this.firstRun === 'before the start resolves') await this.task.run(this.stopping.signal);
    if (this.stopping.signal.aborted) return;
    this.runs.start(() => {
      const { intervalMs, quietIntervalMs = intervalMs } = this.task;
      return this.activity.isQuiet ? quietIntervalMs : intervalMs;
    });
    this.activity.onWake(() => {
      this.runs.adjust();
    });
    if (this.firstRun === 'at once') this.runs.trigger();
  }

  /** Waits for the run in progress. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.runs.close();
    await this.task.finish?.();
  }
}
