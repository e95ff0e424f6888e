import type { Queue } from 'bullmq';
import type { Database } from '#platform/database/database.js';
import { Census, type News, type Stray } from '../../application/census.js';
import { OVERHEAD_BYTES } from '../../domain/message.js';
import { OPEN_STATUSES } from '../../domain/message-status.js';
import { WORKER_NAME } from './consumer.js';

/*
 * With the queue's depth the only file that knows BullMQ's tables. They are its internals: the version is pinned, and
 * the contract suite of this port tells when they change.
 */

const JOB_ID = `CASE m.retries WHEN 0 THEN m.id ELSE m.id || '.' || m.retries END`;

const OPEN = `m.status IN (${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')})`;

/** The message is open, and no worker of ours has it at hand. */
const FREE = `${OPEN}
    AND (m.claim_expires_at IS NULL OR m.claim_expires_at < clock_timestamp())`;

const straysAmong = (messages: string) => `
  FROM ${messages} m
  LEFT JOIN bullmq.job j ON j.queue = $1 AND j.id = ${JOB_ID}
  WHERE ${FREE}
    AND (j.id IS NULL OR j.state IN ('completed', 'failed'))
    AND NOT EXISTS (SELECT FROM (SELECT unnest(message_ids) AS id FROM sluice.outbox) o WHERE o.id = m.id)`;

const STRAYS = straysAmong('sluice.messages');

/** As many open messages as can be looked at while somebody waits. */
const OLDEST = `(SELECT * FROM sluice.messages m WHERE ${OPEN} ORDER BY id LIMIT 100000)`;

const RUN = `to_timestamp(j.processed_at_ms / 1000.0) AS processed_at,
                to_timestamp(j.finished_at_ms / 1000.0) AS finished_at`;

/** Ids are given before commits, so an event may show up after later ones; so many are read again. */
const EVENTS_READ_AGAIN = 1_000;
/** Characters of a reason; others may give one of any length. */
const MAX_REASON_LENGTH = 1_000;

/** Jobs that one call removes. */
const FORGET_AT_ONCE = 10_000;

/** How a job ended that perhaps another's worker has ended. */
interface EndRow {
  id: string | null;
  retries: number;
  /** How the job ended: by itself or, when its worker has removed it, by the last event of its newest life. */
  ended: 'completed' | 'failed' | 'added' | null;
  attempts: number | null;
  processed_by: string | null;
  failed_reason: string | null;
  /** When it was begun the last time, and when it ended. */
  processed_at: Date | null;
  finished_at: Date | null;
  return_value: string | null;
}

interface StrayRow extends EndRow {
  id: string;
  account_id: string;
  body: string;
  created_at: Date;
  job_id: string;
}

/** What our own workers return of a job, as its event tells it. */
const OURS = JSON.stringify(WORKER_NAME);

/** What BullMQ writes as the reason when it gives a job up itself, because its worker was silent too often. */
const STALLED = 'job stalled more than allowable limit';

export class PostgresCensus extends Census {
  /** @param lockMs how long our own workers lock a job, in milliseconds */
  constructor(
    private readonly database: Database,
    private readonly queue: Queue,
    private readonly lockMs: number,
  ) {
    super();
  }

  count(): Promise<number> {
    return this.countIn(STRAYS);
  }

  /** Those among the 100,000 oldest open messages: what a long backlog can't make costly. */
  countAmongOldest(): Promise<number> {
    return this.countIn(straysAmong(OLDEST));
  }

  async strays(limit: number): Promise<Stray[]> {
    const rows = await this.database.query<StrayRow>(
      // Events are read once for all strays: they are many, and no index leads from a job to its own.
      `WITH s AS (
         SELECT m.id, m.account_id, m.body, m.created_at, m.retries, j.state, j.processed_by, j.failed_reason,
                ${RUN}, j.attempts_made, ${JOB_ID} AS job_id
         ${STRAYS} ORDER BY m.id LIMIT $2
       ), last AS (
         SELECT DISTINCT ON (data->>'jobId') data->>'jobId' AS job_id, event, data->>'failedReason' AS reason,
                data->>'returnvalue' AS return_value
         FROM bullmq.event
         WHERE queue = $1 AND event IN ('added', 'completed', 'failed')
           AND data->>'jobId' IN (SELECT job_id FROM s WHERE state IS NULL)
         ORDER BY data->>'jobId', id DESC
       )
       SELECT s.*, coalesce(state::text, last.event) AS ended, coalesce(s.failed_reason, last.reason) AS failed_reason,
              s.attempts_made AS attempts, last.return_value
       FROM s LEFT JOIN last USING (job_id) ORDER BY s.id`,
      [this.queue.name, limit],
    );
    return rows.map((row) => ({
      id: row.id,
      accountId: row.account_id,
      text: row.body,
      createdAt: row.created_at,
      retries: row.retries,
      jobId: row.job_id,
      endedElsewhere: endedElsewhere(row),
    }));
  }

  async news(position: string | null): Promise<News> {
    const rows = await this.database.query<EndRow & { position: string }>(
      `WITH newest AS (
         SELECT coalesce(max(id), 0) AS position FROM bullmq.event WHERE queue = $1
       ), last AS (
         SELECT DISTINCT ON (data->>'jobId') data->>'jobId' AS job_id, event, data->>'failedReason' AS reason
         FROM bullmq.event
         WHERE queue = $1 AND id > $2::bigint AND event IN ('completed', 'failed')
           AND data->>'returnvalue' IS DISTINCT FROM $3
         ORDER BY data->>'jobId', id DESC
       ), ends AS (
         SELECT m.id, m.retries, last.event AS ended, last.reason AS failed_reason, j.attempts_made AS attempts,
                j.processed_by, NULL AS return_value, ${RUN}
         FROM last
         JOIN sluice.messages m ON m.id = split_part(last.job_id, '.', 1) AND last.job_id = ${JOB_ID}
         LEFT JOIN bullmq.job j ON j.queue = $1 AND j.id = last.job_id
         -- A failed job that is gone may be one of ours that was just taken out to be queued again.
         WHERE ${FREE} AND (j.state::text = last.event OR j.id IS NULL AND last.event = 'completed')
       )
       SELECT * FROM newest LEFT JOIN ends ON true`,
      [this.queue.name, position === null ? '0' : String(BigInt(position) - BigInt(EVENTS_READ_AGAIN)), OURS],
    );
    const ends = rows.flatMap((row) => {
      const ended = row.id === null ? null : endedElsewhere(row);
      return ended === null ? [] : [{ id: row.id ?? '', retries: row.retries, ...ended }];
    });
    return { ends, position: rows[0]?.position ?? '0' };
  }

  private async countIn(strays: string): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(`SELECT count(*)::int AS count ${strays}`, [
      this.queue.name,
    ]);
    return row?.count ?? 0;
  }

  async requeue({ id, jobId }: Stray): Promise<void> {
    // First the dead job: while it is there, a new one with its id is ignored.
    await this.queue.remove(jobId);
    await this.database.query(
      `INSERT INTO sluice.outbox (message_ids, bytes, due_at, for_sweeper)
       SELECT ARRAY[id], octet_length(body) + ${OVERHEAD_BYTES}, greatest(deliver_at, clock_timestamp()), true
       FROM sluice.messages WHERE id = $1`,
      [id],
    );
  }

  async forgetJobs(olderThanMs: number): Promise<void> {
    for (const state of ['completed', 'failed'] as const) {
      let removed: string[];
      do removed = await this.queue.clean(olderThanMs, FORGET_AT_ONCE, state);
      while (removed.length === FORGET_AT_ONCE);
    }
  }

  async mendClock(): Promise<void> {
    const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
    await this.database.query(
      `UPDATE bullmq.meta SET value = ${now}::text
       WHERE queue = $1 AND field = 'stalled-check' AND value::bigint > ${now} + 5000`,
      [this.queue.name],
    );
    await this.database.query(
      `UPDATE bullmq.job SET locked_until_ms = ${now} + $2
       WHERE queue = $1 AND state = 'active' AND processed_by = $3 AND locked_until_ms > ${now} + $2 + 5000`,
      [this.queue.name, this.lockMs, WORKER_NAME],
    );
    await this.database.query(
      `UPDATE bullmq.job SET process_at_ms = ${now} + delay_ms
       WHERE queue = $1 AND state = 'delayed' AND processed_by = $2 AND process_at_ms > ${now} + delay_ms + 5000`,
      [this.queue.name, WORKER_NAME],
    );
    // A worker sleeps until the hour at which, by its clock of then, the next job is due. This has it look again.
    await this.database.query(`SELECT pg_notify('bullmq_jobs', $1)`, [this.queue.name]);
  }
}

function endedElsewhere(row: EndRow): Stray['endedElsewhere'] {
  if (row.processed_by === WORKER_NAME || row.return_value === OURS) return null;
  // Of a job that is gone nobody knows how often it was tried.
  const attempts = Math.max(1, row.attempts ?? 1);
  const { processed_at: startedAt, finished_at: endedAt } = row;
  const run = startedAt === null || endedAt === null ? null : { startedAt, endedAt };
  if (row.ended === 'completed') return { attempts, failedReason: null, run };
  if (row.ended === 'failed' && row.failed_reason !== STALLED) {
    const reason = row.failed_reason ?? 'The worker gave no reason.';
    return { attempts, failedReason: reason.slice(0, MAX_REASON_LENGTH).toWellFormed(), run };
  }
  return null;
}
