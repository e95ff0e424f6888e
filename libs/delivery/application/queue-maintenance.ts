/** Jobs that other programs ended are kept this long for inspection; our workers remove theirs immediately. */
export const ENDED_JOB_LIFETIME_MS = 24 * 3_600_000;

export abstract class QueueMaintenance {
  /**
   * Removes some of the jobs that ended longer ago than this.
   * @returns whether there may be more
   */
  abstract removeOldJobs(olderThanMs: number): Promise<boolean>;

  /**
   * Repairs what a worker whose clock was ahead has left in the queue: locks, checks, retries and windows of the rate
   * limit too far in the future. On Redis, it also removes what keeps the scripts of BullMQ from working, such as keys
   * of a wrong type.
   */
  abstract repairFutureTimestamps(): Promise<void>;
}
