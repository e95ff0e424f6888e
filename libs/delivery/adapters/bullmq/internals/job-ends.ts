import { toReason } from '#messages/index.js';
import type { ForeignEnd } from '../../../application/foreign-end.js';
import { WORKER_NAME } from '../delivery-job.js';

/** What our workers return for a job, as its event contains it. */
export const OUR_RESULT = JSON.stringify(WORKER_NAME);

/** The reason that BullMQ stores when it fails a job because its workers were silent too often. */
const STALLED_REASON = 'job stalled more than allowable limit';

/** What BullMQ stores when what a worker has thrown has no message, depending on the server and the version. */
const NO_MESSAGE = /^(?:null|undefined)$/;

/** A job that a worker of another program may have ended. */
export interface JobEndRow {
  /** The state of the job or, when its worker has removed it, its last event. */
  ended: 'completed' | 'failed' | 'added' | null;
  attempts: number | null;
  /** Attempts whose worker was lost. */
  stalled: number | null;
  processed_by: string | null;
  failed_reason: string | null;
  processed_at: Date | null;
  finished_at: Date | null;
  return_value: string | null;
}

/** Of a job that is gone without an event. */
export const GONE: JobEndRow = {
  ended: null,
  attempts: null,
  stalled: null,
  processed_by: null,
  failed_reason: null,
  processed_at: null,
  finished_at: null,
  return_value: null,
};

/** How another program ended the job; null when it did not. */
export function endByOthers(row: JobEndRow): ForeignEnd | null {
  if (row.processed_by === WORKER_NAME || row.return_value === OUR_RESULT) return null;
  const [made, stalled] = [row.attempts ?? 0, row.stalled ?? 0];
  const { processed_at: startedAt, finished_at: endedAt } = row;
  const run = startedAt === null || endedAt === null ? null : { startedAt, endedAt };
  if (row.ended === 'completed') return { made, stalled, failedReason: null, run };
  if (row.ended === 'failed' && row.failed_reason !== STALLED_REASON) {
    const failedReason = toReason(row.failed_reason?.replace(NO_MESSAGE, '') ?? '', 'The worker reported no reason.');
    return { made, stalled, failedReason, run };
  }
  return null;
}
