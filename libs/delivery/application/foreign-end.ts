import type { JobEnd } from '#messages/index.js';

/** How a worker of another program ended a job. */
export interface ForeignEnd {
  /** Attempts that ended. */
  readonly made: number;
  /** Attempts whose worker was lost, of whichever program. */
  readonly stalled: number;
  /** Null when the job was completed. */
  readonly failedReason: string | null;
  /** The last attempt; null when it is not known. */
  readonly run: JobEnd['run'];
}

/** The open message of a job. */
export interface JobOwner {
  readonly id: string;
  readonly retries: number;
  readonly jobId: string;
  readonly crashes: number;
  readonly status: string;
}

/** What the end of a job means for its message, which has counted the lost attempts of our workers itself. */
export function toJobEnd(message: JobOwner, { made, stalled, failedReason, run }: ForeignEnd): JobEnd {
  const { id, retries, crashes, status } = message;
  const lost = Math.max(0, stalled - crashes - Number(status === 'processing'));
  // A removed job has lost its count of attempts.
  return { id, retries, attempts: Math.max(1, made + lost), failedReason, run };
}
