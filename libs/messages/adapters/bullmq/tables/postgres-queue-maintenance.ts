import type { Database } from '#platform/database/database.js';
import { QueueMaintenance } from '../../../application/queue-maintenance.js';
import { WORKER_NAME } from '../delivery-job.js';
import type { QueueConnection } from '../queue-connection.js';

/** Jobs that one call removes. */
const REMOVED_AT_ONCE = 10_000;

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

const REPAIR_STALLED_CHECK = `
  UPDATE bullmq.meta SET value = ${NOW}::text
  WHERE queue = $1 AND field = 'stalled-check' AND value::bigint > ${NOW} + 5000`;

const REPAIR_LOCKS = `
  UPDATE bullmq.job SET locked_until_ms = ${NOW} + $2
  WHERE queue = $1 AND state = 'active' AND processed_by = $3 AND locked_until_ms > ${NOW} + $2 + 5000`;

const REPAIR_DELAYS = `
  UPDATE bullmq.job SET process_at_ms = ${NOW} + delay_ms
  WHERE queue = $1 AND state = 'delayed' AND processed_by = $2 AND process_at_ms > ${NOW} + delay_ms + 5000`;

export class PostgresQueueMaintenance extends QueueMaintenance {
  constructor(
    private readonly database: Database,
    private readonly connection: QueueConnection,
    /** How long our workers lock a job, in milliseconds. */
    private readonly worker: { readonly lockMs: number },
  ) {
    super();
  }

  async removeOldJobs(olderThanMs: number): Promise<void> {
    for (const state of ['completed', 'failed'] as const) {
      let removed: string[];
      do removed = await this.connection.queue.clean(olderThanMs, REMOVED_AT_ONCE, state);
      while (removed.length === REMOVED_AT_ONCE);
    }
  }

  async repairFutureTimestamps(): Promise<void> {
    const { name } = this.connection.queue;
    await this.database.query(REPAIR_STALLED_CHECK, [name]);
    await this.database.query(REPAIR_LOCKS, [name, this.worker.lockMs, WORKER_NAME]);
    await this.database.query(REPAIR_DELAYS, [name, WORKER_NAME]);
    // A worker sleeps until the next job was due by its clock at the time. This wakes it up.
    await this.database.query(`SELECT pg_notify('bullmq_jobs', $1)`, [name]);
  }
}
