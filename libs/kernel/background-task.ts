/** Work that a process repeats in the background. `apps/background.ts` lists all of it. */
export interface BackgroundTask {
  /** Milliseconds from the beginning of a run to that of the next one, which is skipped while one is in progress. */
  readonly intervalMs: number;

  /**
   * One run. It handles its own errors and never rejects.
   * @param signal aborted when the process stops: end after the current step
   */
  run(signal: AbortSignal): Promise<unknown>;
}
