import type { Database } from '#platform/database/database.js';
import { JobEvents, type EndedJobs } from '../../../application/job-events.js';
import type { PostgresQueueConnection } from './postgres-queue-connection.js';
import { endByOthers, OUR_RESULT, type JobEndRow } from '../job-ends.js';
import { JOB_ID, UNCLAIMED } from '../../open-messages.sql.js';
import { ATTEMPTS, RUN } from './job.sql.js';

/** Ids are assigned before commits, so an event may appear after later ones: this many are read again. */
const REREAD = 1_000;

const READ = `
  WITH newest AS (
    SELECT coalesce(max(id), 0) AS position FROM bullmq.event WHERE queue = $1
  ), last AS (
    SELECT DISTINCT ON (data->>'jobId') data->>'jobId' AS job_id, event, data->>'failedReason' AS reason
    FROM bullmq.event
    WHERE queue = $1 AND id > $2::bigint AND event IN ('completed', 'failed')
      AND data->>'returnvalue' IS DISTINCT FROM $3
    ORDER BY data->>'jobId', id DESC
  ), ends AS (
    SELECT m.id, m.retries, last.event AS ended, last.reason AS failed_reason, ${ATTEMPTS} AS attempts,
           j.processed_by, NULL AS return_value, ${RUN}
    FROM last
    JOIN sluice.messages m ON m.id = split_part(last.job_id, '.', 1) AND last.job_id = ${JOB_ID}
    LEFT JOIN bullmq.job j ON j.queue = $1 AND j.id = last.job_id
    -- A failed job that is gone may be one of ours that was just removed to be queued again.
    WHERE ${UNCLAIMED} AND (j.state::text = last.event OR j.id IS NULL AND last.event = 'completed')
  )
  SELECT * FROM newest LEFT JOIN ends ON true`;

// What BullMQ does when it publishes an event; our processes publish almost none.
const TRIM = `
  DELETE FROM bullmq.event
  WHERE queue = $1 AND id <= $2::bigint - coalesce(
      (SELECT value::bigint FROM bullmq.meta WHERE queue = $1 AND field = 'opts.maxLenEvents'), 10000)
    AND (SELECT pg_try_advisory_xact_lock(hashtext('bullmq:evtrim:' || $1)))`;

interface EventRow extends JobEndRow {
  position: string;
  /** Null in the one row without events. */
  id: string | null;
  retries: number;
}

export class PostgresJobEvents extends JobEvents {
  constructor(
    private readonly database: Database,
    private readonly connection: Pick<PostgresQueueConnection, 'queue'>,
  ) {
    super();
  }

  async read(position: string | null): Promise<EndedJobs> {
    const from = position === null ? '0' : String(BigInt(position) - BigInt(REREAD));
    const { name } = this.connection.queue;
    const rows = await this.database.query<EventRow>(READ, [name, from, OUR_RESULT]);
    const newest = rows[0]?.position ?? '0';
    await this.database.prepared('trim-job-events', TRIM, [name, newest]);
    const ends = rows.flatMap((row) => {
      const { id, retries } = row;
      const end = id === null ? null : endByOthers(row);
      return id === null || end === null ? [] : [{ id, retries, ...end }];
    });
    return { ends, position: newest };
  }
}
