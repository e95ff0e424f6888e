export abstract class QueueMaintenance {
  /** Removes jobs that ended longer ago than this. */
  abstract removeOldJobs(olderThanMs: number): Promise<void>;

  /** Repairs what a worker whose clock was ahead has left in the queue: locks, checks and retries too far in the future. */
  abstract repairFutureTimestamps(): Promise<void>;
}
