/** Lets one process at a time reconcile. */
export abstract class ReconcilerTurn {
  /**
   * Runs `work`, unless another process is running its own, or one began within about the last `everyMs`. With 0, only the
   * former prevents it, and it delays no later run.
   */
  abstract take(everyMs: number, work: () => Promise<void>): Promise<void>;
}
