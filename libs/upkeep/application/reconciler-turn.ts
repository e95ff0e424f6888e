/** Lets one process at a time reconcile. */
export abstract class ReconcilerTurn {
  /**
   * Runs `work`, unless another process is running its own, or one began within about the last `everyMs`. With 0, only the
   * former prevents it, and it delays no later run.
   * @param work must call `keep` every 15 seconds, which rejects when the turn is lost
   */
  abstract take(everyMs: number, work: (keep: () => Promise<unknown>) => Promise<void>): Promise<void>;
}
