import { OPEN_STATUSES } from '../../../domain/message-status.js';
import type { StrayMessage } from '../../../application/stray-messages.js';
import { STALLED_REASON, WORKER_NAME } from '../delivery-job.js';

/*
 * Only the files of this folder know BullMQ's tables. They are its internals: the version is pinned, and the contract
 * suites of this folder's ports fail when they change.
 */

/** `Message.jobId` of a message `m`. */
export const JOB_ID = `CASE m.retries WHEN 0 THEN m.id ELSE m.id || '.' || m.retries END`;

export const OPEN = `m.status IN (${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')})`;

/** The message is open, and none of our workers holds an unexpired claim. */
export const UNCLAIMED = `${OPEN}
    AND (m.claim_expires_at IS NULL OR m.claim_expires_at < clock_timestamp())`;

/**
 * The attempts that other programs made with a job `j` of a message `m`: those that ended, and those whose worker was
 * lost. The message has counted the lost ones of our workers itself.
 */
export const ATTEMPTS = `j.attempts_made + greatest(0, j.stalled_count - m.crashes - (m.status = 'processing')::int)`;

/** When a job `j` was last started, and when it ended. */
export const RUN = `to_timestamp(j.processed_at_ms / 1000.0) AS processed_at,
                to_timestamp(j.finished_at_ms / 1000.0) AS finished_at`;

/** What our workers return for a job, as its event contains it. */
export const OUR_RESULT = JSON.stringify(WORKER_NAME);

/** Characters of a failure reason; other programs may store one of any length. */
const MAX_REASON_LENGTH = 1_000;

/** A job that a worker of another program may have ended. */
export interface JobEndRow {
  /** The state of the job or, when its worker has removed it, its last event. */
  ended: 'completed' | 'failed' | 'added' | null;
  attempts: number | null;
  processed_by: string | null;
  failed_reason: string | null;
  processed_at: Date | null;
  finished_at: Date | null;
  return_value: string | null;
}

/** How another program ended the job; null when it did not. */
export function endedElsewhere(row: JobEndRow): StrayMessage['endedElsewhere'] {
  if (row.processed_by === WORKER_NAME || row.return_value === OUR_RESULT) return null;
  // A removed job has lost its count of attempts.
  const attempts = Math.max(1, row.attempts ?? 1);
  const { processed_at: startedAt, finished_at: endedAt } = row;
  const run = startedAt === null || endedAt === null ? null : { startedAt, endedAt };
  if (row.ended === 'completed') return { attempts, failedReason: null, run };
  if (row.ended === 'failed' && row.failed_reason !== STALLED_REASON) {
    const reason = row.failed_reason ?? 'The worker reported no reason.';
    return { attempts, failedReason: reason.slice(0, MAX_REASON_LENGTH).toWellFormed(), run };
  }
  return null;
}
