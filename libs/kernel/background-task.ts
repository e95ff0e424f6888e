/** Work that a process repeats in the background. `apps/background.ts` lists all of it. */
export interface BackgroundTask {
  /**
   * Milliseconds from the start of a run to the start of the next. A run is skipped while the previous one is in
   * progress.
   */
  readonly intervalMs: number;

  /**
   * One run. It handles its own errors and never rejects.
   * @param signal aborted when the process stops: end after the current step
   */
  run(signal: AbortSignal): Promise<unknown>;
}
