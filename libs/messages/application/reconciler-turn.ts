/** Lets one process at a time reconcile. */
export abstract class ReconcilerTurn {
  /** Runs `work`, unless a process is doing so or has begun to within about the last `everyMs`. With 0, it does not count as begun. */
  abstract take(everyMs: number, work: () => Promise<void>): Promise<void>;
}
