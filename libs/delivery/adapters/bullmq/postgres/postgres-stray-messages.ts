import type { Database } from '#platform/database/database.js';
import { StrayMessages, type StrayMessage } from '../../../application/stray-messages.js';
import type { PostgresQueueConnection } from './postgres-queue-connection.js';
import { endByOthers, type JobEndRow } from '../job-ends.js';
import {
  CONTINUE,
  COUNT_UNDELIVERED,
  DUE,
  insertEntriesFor,
  IS_SUSPENDED,
  JOB_ID,
  MAX_ENTRIES,
  SHOULD_HAVE_JOB,
  UNCLAIMED,
} from '../open-messages.sql.js';
import { ATTEMPTS, NOW, RUN, THEIR_JOB_ID } from './job.sql.js';

const HAS_NO_LIVE_JOB = `(j.state IS NULL OR j.state IN ('completed', 'failed'))`;

export const COUNT = `
  SELECT count(*)::int + (${COUNT_UNDELIVERED}) AS count FROM sluice.messages m
  LEFT JOIN bullmq.job j ON j.queue = $1 AND j.id = ${THEIR_JOB_ID}
  WHERE ${UNCLAIMED} AND ${HAS_NO_LIVE_JOB}
    AND NOT EXISTS (SELECT FROM (SELECT unnest(message_ids) AS id FROM sluice.outbox) o WHERE o.id = m.id)`;

// Jobs are looked up one by one: a join of two large tables would read much more.
export const FIND_NEXT = `
  WITH page AS (
    SELECT m.id, m.account_id, m.retries, m.status, m.crashes, m.claim_expires_at, m.deliver_at, m.delivery
    FROM sluice.messages m
    WHERE ${SHOULD_HAVE_JOB} AND m.id > (SELECT position FROM sluice.reconciler) ORDER BY m.id LIMIT $2
  ), jobless AS MATERIALIZED (
    SELECT m.id, m.account_id, m.retries, ${JOB_ID} AS job_id, j.* FROM page m
    LEFT JOIN LATERAL (
      SELECT j.state, j.processed_by, j.failed_reason, ${ATTEMPTS} AS attempts, ${RUN}
      FROM bullmq.job j WHERE j.queue = $1 AND j.id = ${THEIR_JOB_ID} LIMIT 1
    ) j ON true
    WHERE ${UNCLAIMED} AND ${HAS_NO_LIVE_JOB} AND (m.deliver_at IS NULL OR m.deliver_at <= now())
  ), due AS (
    ${DUE}
  ), strays AS (
    SELECT * FROM jobless m
    WHERE (SELECT count(*) FROM due) <= ${MAX_ENTRIES} AND m.id NOT IN (SELECT unnest(message_ids) FROM due)
      AND ${IS_SUSPENDED} IS NULL
  )
  SELECT page.position, strays.*
  FROM (SELECT CASE WHEN (SELECT count(*) FROM due) > ${MAX_ENTRIES} THEN (SELECT position FROM sluice.reconciler)
                    WHEN count(*) = $2 THEN max(id) ELSE '' END AS position FROM page) page
  LEFT JOIN strays ON true ORDER BY strays.id`;

const LAST_EVENTS = `
  SELECT DISTINCT ON (data->>'jobId') data->>'jobId' AS job_id, event AS ended, data->>'failedReason' AS failed_reason,
         data->>'returnvalue' AS return_value
  FROM bullmq.event
  WHERE queue = $1 AND event IN ('added', 'completed', 'failed') AND data->>'jobId' = ANY ($2)
  ORDER BY data->>'jobId', id DESC`;

// The dead job goes: while it exists, a new one with its id is ignored. The event keeps the end of the dead job from
// being taken for the end of the new job.
const REQUEUE = `
  WITH removed AS (
    DELETE FROM bullmq.job WHERE queue = $1 AND id = ANY ($3) AND state IN ('completed', 'failed') RETURNING id
  ), events AS (
    INSERT INTO bullmq.event (queue, event, data, created_at_ms)
    SELECT $1, 'added', jsonb_build_object('jobId', id), ${NOW}
    FROM removed
  )
  ${insertEntriesFor('$2')}`;

interface StrayRow extends Omit<JobEndRow, 'ended' | 'return_value'> {
  /** Where the next call continues. */
  position: string;
  /** Null in the one row without strays. */
  id: string | null;
  retries: number;
  job_id: string;
  state: 'completed' | 'failed' | null;
}

type LastEvent = Pick<JobEndRow, 'ended' | 'failed_reason' | 'return_value'> & { job_id: string };

export class PostgresStrayMessages extends StrayMessages {
  constructor(
    private readonly database: Database,
    private readonly connection: Pick<PostgresQueueConnection, 'queue'>,
  ) {
    super();
  }

  async count(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(COUNT, [this.connection.queue.name]);
    return row?.count ?? 0;
  }

  async findNext(limit: number): Promise<StrayMessage[]> {
    const rows = await this.database.query<StrayRow>(FIND_NEXT, [this.connection.queue.name, limit]);
    const events = await this.lastEvents(rows.filter(({ id, state }) => id !== null && state === null));
    const found = rows.flatMap(({ id, retries, job_id: jobId, ...row }) => {
      const job = { ended: row.state, return_value: null, ...row, ...events.get(jobId) };
      return id === null ? [] : [{ id, retries, jobId, endedElsewhere: endByOthers(job) }];
    });
    const strays = found.filter((stray) => stray.endedElsewhere === null).length;
    await this.database.query(CONTINUE, [rows[0]?.position ?? '', strays]);
    return found;
  }

  async requeue(strays: readonly StrayMessage[]): Promise<void> {
    const jobIds = strays.map(({ jobId }) => jobId);
    await this.database.query(REQUEUE, [this.connection.queue.name, strays.map(({ id }) => id), jobIds]);
  }

  /** What the queue reported last about jobs that are gone. All in one reading: no index leads to the events of a job. */
  private async lastEvents(gone: readonly StrayRow[]): Promise<Map<string, LastEvent>> {
    if (gone.length === 0) return new Map();
    const ids = gone.map(({ job_id }) => job_id);
    const events = await this.database.query<LastEvent>(LAST_EVENTS, [this.connection.queue.name, ids]);
    return new Map(events.map((event) => [event.job_id, event]));
  }
}
