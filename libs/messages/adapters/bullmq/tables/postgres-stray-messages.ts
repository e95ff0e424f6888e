import type { Database } from '#platform/database/database.js';
import { StrayMessages, type StrayMessage } from '../../../application/stray-messages.js';
import { OVERHEAD_BYTES } from '../../../domain/message.js';
import type { QueueConnection } from '../queue-connection.js';
import { endedElsewhere, JOB_ID, OPEN, RUN, UNCLAIMED, type JobEndRow } from './job-ends.js';

const straysAmong = (messages: string) => `
  FROM ${messages} m
  LEFT JOIN bullmq.job j ON j.queue = $1 AND j.id = ${JOB_ID}
  WHERE ${UNCLAIMED}
    AND (j.id IS NULL OR j.state IN ('completed', 'failed'))
    AND NOT EXISTS (SELECT FROM (SELECT unnest(message_ids) AS id FROM sluice.outbox) o WHERE o.id = m.id)`;

const STRAYS = straysAmong('sluice.messages');
const OLDEST_STRAYS = straysAmong(`(SELECT * FROM sluice.messages m WHERE ${OPEN} ORDER BY id LIMIT 100000)`);

// Events are read once for all strays: there are many, and no index leads from a job to its own.
const FIND = `
  WITH s AS (
    SELECT m.id, m.retries, j.state, j.processed_by, j.failed_reason, ${RUN}, j.attempts_made, ${JOB_ID} AS job_id
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
  FROM s LEFT JOIN last USING (job_id) ORDER BY s.id`;

const ADD_OUTBOX_ENTRY = `
  INSERT INTO sluice.outbox (message_ids, bytes, due_at, for_sweeper)
  SELECT ARRAY[id], octet_length(text) + ${OVERHEAD_BYTES}, greatest(deliver_at, clock_timestamp()), true
  FROM sluice.messages WHERE id = $1`;

interface StrayRow extends JobEndRow {
  id: string;
  retries: number;
  job_id: string;
}

export class PostgresStrayMessages extends StrayMessages {
  constructor(
    private readonly database: Database,
    private readonly connection: QueueConnection,
  ) {
    super();
  }

  count(): Promise<number> {
    return count(this.database, STRAYS, this.connection.queue.name);
  }

  async find(limit: number): Promise<StrayMessage[]> {
    const rows = await this.database.query<StrayRow>(FIND, [this.connection.queue.name, limit]);
    return rows.map((row) => ({
      id: row.id,
      retries: row.retries,
      jobId: row.job_id,
      endedElsewhere: endedElsewhere(row),
    }));
  }

  async requeue({ id, jobId }: StrayMessage): Promise<void> {
    // The dead job first: while it exists, a new one with its id is ignored.
    await this.connection.queue.remove(jobId);
    await this.database.query(ADD_OUTBOX_ENTRY, [id]);
  }
}

/** Strays among the 100,000 oldest open messages: the cost is bounded however long the backlog is. */
export function countOldestStrays(database: Database, queueName: string): Promise<number> {
  return count(database, OLDEST_STRAYS, queueName);
}

async function count(database: Database, strays: string, queueName: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(`SELECT count(*)::int AS count ${strays}`, [queueName]);
  return row?.count ?? 0;
}
