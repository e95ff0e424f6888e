import { randomUUID } from 'node:crypto';
import type { Database } from '#platform/database/database.js';
import { QueueContents } from '../../../application/queue-contents.js';
import { insertEntries, JOB_ID, OPEN } from '../open-messages.sql.js';
import type { RedisQueueConnection } from './redis-queue-connection.js';

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** Jobs of a state that one step takes over. */
const AT_ONCE = 1_000;

/** Each by an index, and in the order in which workers would take them. */
const TAKEN = [
  `state = 'waiting' ORDER BY priority, seq`,
  `state = 'delayed' AND process_at_ms <= ${NOW} ORDER BY process_at_ms`,
  `state = 'active' AND coalesce(locked_until_ms, 0) <= ${NOW}`,
  `state IN ('completed', 'failed')`,
].map((jobs) => `(SELECT ctid AS tid FROM bullmq.job WHERE queue = $1 AND ${jobs} LIMIT ${AT_ONCE})`);

// Delayed jobs, which are retries, stay until they are due; so do those that a worker still has.
const TAKE_OVER = `
  WITH taken AS MATERIALIZED (${TAKEN.join(' UNION ALL ')}
  ), removed AS (
    DELETE FROM bullmq.job WHERE ctid = ANY (ARRAY(SELECT tid FROM taken)) RETURNING id
  ), moved AS MATERIALIZED (
    SELECT array_agg(m.id) AS ids FROM removed
    JOIN sluice.messages m ON m.id = split_part(removed.id, '.', 1) AND removed.id = ${JOB_ID}
    WHERE ${OPEN}
  ), entries AS (${insertEntries('(SELECT ids FROM moved)::text[]')}
  )
  SELECT count(*)::int AS removed FROM removed`;

export class RedisQueueContents extends QueueContents {
  constructor(
    private readonly database: Database,
    private readonly connection: RedisQueueConnection,
  ) {
    super();
  }

  /**
   * An id in Redis, which is gone when Redis has come back empty, and one of the server's run: after a restart, the
   * newest jobs may be missing.
   */
  async identity(): Promise<string> {
    const key = this.connection.key('sluice-contents');
    const [id, info] = await this.connection.ask<[string | null, string]>((pipeline) =>
      pipeline.get(key).info('server'),
    );
    // Not always: a Redis without memory refuses to.
    if (id === null) await this.connection.redis.set(key, randomUUID(), 'NX');
    return id === null ? this.identity() : `redis ${id} ${/^run_id:(\w+)/m.exec(info)?.[1] ?? ''}`;
  }

  async takeOver(): Promise<boolean> {
    const { name } = this.connection.queue;
    // Mostly there is nothing to do.
    const left = await this.database.query('SELECT FROM bullmq.job WHERE queue = $1 LIMIT 1', [name]);
    if (left.length === 0) return false;
    const [row] = await this.database.query<{ removed: number }>(TAKE_OVER, [name]);
    return (row?.removed ?? 0) > 0;
  }
}
