import type { Database } from '#platform/database/database.js';
import { QueueMaintenance } from '../../../application/queue-maintenance.js';
import { WORKER_NAME } from '../delivery-job.js';
import type { PostgresQueueConnection } from './postgres-queue-connection.js';
import { NOW } from './job.sql.js';

/** Jobs of a state that one call removes. */
const REMOVED_AT_ONCE = 10_000;

const REPAIR_STALLED_CHECK = `
  UPDATE bullmq.meta SET value = ${NOW}::text
  WHERE queue = $1 AND field = 'stalled-check' AND value::bigint > ${NOW} + 5000`;

// BullMQ never takes over a job whose lock has no end.
const REPAIR_LOCKS = `
  UPDATE bullmq.job SET locked_until_ms = ${NOW} + $2
  WHERE queue = $1 AND state = 'active'
    AND (locked_until_ms IS NULL OR processed_by = $3 AND locked_until_ms > ${NOW} + $2 + 5000)`;

// Only the latest ones: a wrong clock puts jobs there, and the cost does not grow with the others.
const REPAIR_DELAYS = `
  UPDATE bullmq.job SET process_at_ms = ${NOW} + delay_ms
  WHERE queue = $1 AND state = 'delayed' AND id IN (
    SELECT id FROM (
      SELECT * FROM bullmq.job WHERE queue = $1 AND state = 'delayed' ORDER BY process_at_ms DESC LIMIT 10000
    ) last
    WHERE processed_by = $2 AND process_at_ms > ${NOW} + delay_ms + 5000
  )`;

// BullMQ does not store how long a window is: that of our workers is a second. Others may set one of up to a minute, one
// of any length for all workers (`duration`), or one that ends at a certain time (9007199254740991 points).
const REPAIR_RATE_LIMIT = `
  UPDATE bullmq.rate_limit SET expire_at_ms = ${NOW}
  WHERE queue = $1 AND points < 9007199254740991 AND expire_at_ms > ${NOW} + 5000 + greatest(60000, (
    SELECT value::bigint FROM bullmq.meta WHERE queue = $1 AND field = 'duration'
  ))`;

export class PostgresQueueMaintenance extends QueueMaintenance {
  constructor(
    private readonly database: Database,
    private readonly connection: Pick<PostgresQueueConnection, 'queue'>,
    /** How long our workers lock a job, in milliseconds. */
    private readonly worker: { readonly lockMs: number },
  ) {
    super();
  }

  async removeOldJobs(olderThanMs: number): Promise<boolean> {
    // What `Queue.clean` runs, but with the clock of the database.
    const removed = await this.database.query(
      `SELECT bullmq.clean($1, state, ${NOW} - $2::bigint, ${REMOVED_AT_ONCE})
       FROM unnest(ARRAY['completed', 'failed']) AS state`,
      [this.connection.queue.name, olderThanMs],
    );
    return removed.length >= REMOVED_AT_ONCE;
  }

  async repairFutureTimestamps(): Promise<void> {
    const { name } = this.connection.queue;
    await this.database.query(REPAIR_STALLED_CHECK, [name]);
    await this.database.query(REPAIR_LOCKS, [name, this.worker.lockMs, WORKER_NAME]);
    await this.database.query(REPAIR_DELAYS, [name, WORKER_NAME]);
    await this.database.query(REPAIR_RATE_LIMIT, [name]);
    // A worker sleeps until the next job was due by its clock at the time. This wakes it up.
    await this.database.query(`SELECT pg_notify('bullmq_jobs', $1)`, [name]);
  }
}
