import type { Reads } from '#platform/database/reads.js';
import { Backlogs, type Backlog } from '../../../application/backlogs.js';
import { INITIAL_STATUS } from '../../../domain/message-status.js';

const MAX_COUNT = 10_000;
/** Deliveries that the rate is computed from, at most. */
const RECENT = 1_000;
const RECENT_MINUTES = 5;

// Queued messages are read in the order in which they are due, by a partial index.
const DUE = 'coalesce(deliver_at, created_at)';
const QUEUED = `FROM sluice.messages WHERE account_id = $1 AND status = '${INITIAL_STATUS}'`;
const BACKLOG = `
  SELECT
    (SELECT count(*) FROM (SELECT ${QUEUED} AND ${DUE} <= now() ORDER BY ${DUE} LIMIT ${MAX_COUNT}) due)::int AS queued,
    (SELECT ${DUE} ${QUEUED} AND ${DUE} <= now() ORDER BY ${DUE} LIMIT 1) AS oldest,
    (SELECT count(*) FROM (SELECT ${QUEUED} AND ${DUE} > now() ORDER BY ${DUE} LIMIT ${MAX_COUNT}) later)::int AS scheduled,
    recent.count::int AS delivered,
    -- Fewer rows than the limit are all deliveries of these minutes. Otherwise the time from the oldest of them counts.
    CASE WHEN recent.count < ${RECENT} THEN ${RECENT_MINUTES}
         ELSE extract(epoch FROM now() - recent.first) / 60 END::float8 AS minutes
  FROM (
    SELECT count(*) AS count, min(ended_at) AS first FROM (
      SELECT ended_at FROM sluice.attempts
      WHERE account_id = $1 AND outcome = 'delivered' AND ended_at > now() - interval '${RECENT_MINUTES} minutes'
      ORDER BY ended_at DESC LIMIT ${RECENT}
    ) newest
  ) recent`;

interface BacklogRow {
  queued: number;
  oldest: Date | null;
  scheduled: number;
  delivered: number;
  minutes: number;
}

export class PostgresBacklogs extends Backlogs {
  constructor(private readonly reads: Reads) {
    super();
  }

  async of(accountId: string): Promise<Backlog> {
    const [row] = await this.reads.query<BacklogRow>(accountId, 'backlog', BACKLOG, [accountId]);
    const { queued = 0, oldest = null, scheduled = 0, delivered = 0, minutes = RECENT_MINUTES } = row ?? {};
    const deliveredPerMinute = Math.round(delivered / Math.max(minutes, 1 / 60));
    return { queued, oldestQueuedAt: oldest, scheduled, deliveredPerMinute };
  }
}
