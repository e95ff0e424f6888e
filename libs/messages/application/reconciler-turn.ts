/** Lets one process at a time reconcile. */
export abstract class ReconcilerTurn {
  /** Runs `work`, unless a process is doing so or has begun to within about the last `everyMs`. */
  abstract take(everyMs: number, work: () => Promise<void>): Promise<void>;
}
