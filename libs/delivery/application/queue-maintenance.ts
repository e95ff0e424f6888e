import type { JobEnd } from '#messages/index.js';

/** Jobs that other programs ended are kept this long for inspection; our workers remove theirs immediately. */
export const ENDED_JOB_LIFETIME_MS = 24 * 3_600_000;

/** How a worker of another program ended a job; null when none did. */
export type EndedElsewhere = Pick<JobEnd, 'attempts' | 'failedReason' | 'run'> | null;

/** An open message whose job is looked up. */
export interface JobOwner {
  readonly id: string;
  readonly retries: number;
  readonly jobId: string;
  readonly crashes: number;
  readonly status: string;
}

export interface InspectedJob {
  /** It waits, runs or is delayed: a worker will take it, or has it. */
  readonly isLive: boolean;
  readonly endedElsewhere: EndedElsewhere;
}

/** What the reconciler needs of the queue. */
export abstract class QueueMaintenance {
  /** The jobs of these messages that the queue still has, by their ids. */
  abstract inspect(messages: readonly JobOwner[]): Promise<Map<string, InspectedJob>>;

  /** How jobs ended that the queue no longer has, as far as it still knows, by their ids. */
  abstract endsOfRemoved(jobIds: readonly string[]): Promise<Map<string, EndedElsewhere>>;

  /**
   * Removes the jobs that are not live, with all their traces: while a dead job exists, a new one with its id is ignored.
   * From then on, their ends are not reported any more.
   */
  abstract removeDead(jobIds: readonly string[]): Promise<void>;

  /**
   * Removes jobs, whatever their state, with all that belongs to them but their events. One that a worker has is left to
   * that worker.
   * @returns how many were left
   */
  abstract remove(jobIds: readonly string[]): Promise<number>;

  /** The ids of the jobs that the queue has, and of those that its events are about, in parts of bounded size. */
  abstract mentionedJobs(): AsyncIterable<readonly string[]>;

  /** Removes the events of these jobs. */
  abstract removeEvents(jobIds: readonly string[]): Promise<void>;

  /**
   * Removes some of the jobs that ended longer ago than this.
   * @returns whether there may be more
   */
  abstract removeOldJobs(olderThanMs: number): Promise<boolean>;

  /**
   * Repairs times in the queue that were set by a worker whose clock was ahead: locks, checks, retries and windows of
   * the rate limit too far in the future. On Redis, it also removes what keeps the scripts of BullMQ from working, such
   * as keys of a wrong type.
   */
  abstract repairFutureTimestamps(): Promise<void>;
}
