import type { JobEnd } from './deliveries.js';

/** An open message that nothing will ever deliver, and what became of its job. */
export interface Stray {
  readonly id: string;
  readonly accountId: string;
  readonly text: string;
  readonly createdAt: Date;
  readonly retries: number;
  readonly jobId: string;
  /** How a worker other than ours ended the job; null when none did. */
  readonly endedElsewhere: Pick<JobEnd, 'attempts' | 'failedReason' | 'run'> | null;
}

/** What the queue has told since it was last asked. */
export interface News {
  /** Jobs of open messages that workers other than ours have ended. */
  readonly ends: readonly JobEnd[];
  /** Where to go on. */
  readonly position: string;
}

/**
 * Counts what must not be: messages that are `queued` or `processing` but have no outbox entry, no live job and no
 * unexpired claim. A single look at one moment, so that what is just being handed on is never counted.
 */
export abstract class Census {
  abstract count(): Promise<number>;

  /** Up to `limit` of them, oldest first. */
  abstract strays(limit: number): Promise<Stray[]>;

  /**
   * What happened to jobs, as the queue tells it: soon, but not surely, for it forgets. A little before the position is
   * told again.
   * @param position of the news before; null begins with all that the queue still knows
   */
  abstract news(position: string | null): Promise<News>;

  /** Puts a stray on its way again: its dead job goes, an outbox entry comes. Harmless when it is no stray any more. */
  abstract requeue(stray: Stray): Promise<void>;

  /** Removes jobs from the queue that ended longer ago than this. */
  abstract forgetJobs(olderThanMs: number): Promise<void>;

  /** Undoes what a worker's clock that ran ahead has left in the queue: locks, checks and retries too far in the future. */
  abstract mendClock(): Promise<void>;
}
