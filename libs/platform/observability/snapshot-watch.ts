import type { BackgroundTask } from '#kernel/background-task.js';
import type { Database } from '../database/database.js';
import type { Logger } from './logging.js';
import type { Metrics } from './metrics.js';

const SHOWN_FOR_MS = 5_000;
const WARN_AFTER_SECONDS = 300;

// Every role may read the xmin of all sessions; only `pg_monitor` may read when transactions of other roles started.
const OLDEST = `
  SELECT holder, xid, seconds::float8 FROM (
    SELECT concat('process ', pid, ' (' || nullif(application_name, '') || ')') AS holder,
           coalesce(backend_xid, backend_xmin) AS xid, greatest(age(backend_xid), age(backend_xmin)) AS transactions,
           extract(epoch FROM clock_timestamp() - xact_start) AS seconds
    FROM pg_stat_activity
    WHERE coalesce(datname, current_database()) = current_database() AND pid <> pg_backend_pid()
      -- A VACUUM holds back nothing.
      AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
    UNION ALL
    SELECT 'replication slot ' || slot_name, xmin, age(xmin), NULL FROM pg_replication_slots
    UNION ALL
    SELECT 'prepared transaction ' || gid, transaction, age(transaction),
           extract(epoch FROM clock_timestamp() - prepared)
    FROM pg_prepared_xacts WHERE database = current_database()
  ) held WHERE xid IS NOT NULL ORDER BY transactions DESC LIMIT 1`;

interface Held {
  /** A session, a replication slot or a prepared transaction. */
  readonly holder: string;
  readonly xid: string;
  /** How long its transaction has been open; null when unknown. */
  readonly seconds: number | null;
}

/**
 * Watches the oldest snapshot of the database. While it is held, PostgreSQL keeps every row deleted since then, and
 * each worker reads the rows of ended jobs before it finds the next job.
 */
export class SnapshotWatch implements BackgroundTask {
  readonly intervalMs = 60_000;
  /** How long the oldest snapshot has been held, 0 if there is none; null while the database is unavailable. */
  seconds: number | null = null;
  private held: Held | null = null;
  private since = 0;
  private warned = false;

  constructor(
    private readonly database: Database,
    metrics: Metrics,
    private readonly logger: Logger,
    private readonly warnAfterSeconds = WARN_AFTER_SECONDS,
  ) {
    const name = 'sluice_database_oldest_snapshot_seconds';
    const help = 'How long the oldest snapshot or open transaction of the database has been held';
    metrics.storeGauges(SHOWN_FOR_MS, [{ name, help }], () => Promise.resolve({ [name]: this.seconds }));
  }

  /** Measures once. */
  async run(): Promise<void> {
    const rows = await this.database.query<Held>(OLDEST).catch(() => null);
    const [oldest = null] = rows ?? [];
    const now = performance.now() / 1_000;
    if (oldest?.holder !== this.held?.holder || oldest?.xid !== this.held?.xid) {
      this.since = now;
      this.warned = false;
    }
    this.held = oldest;
    // Of transactions that its role may not read, it knows only for how long it has seen the same one.
    this.seconds = rows === null ? null : oldest === null ? 0 : (oldest.seconds ?? now - this.since);
    const seconds = Math.round(this.seconds ?? 0);
    if (oldest === null || this.warned || seconds < this.warnAfterSeconds) return;
    this.warned = true;
    this.logger.warn({ holder: oldest.holder, seconds }, 'a snapshot is held: deliveries slow down');
  }
}
