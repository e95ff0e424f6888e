import type { FastifyInstance } from 'fastify';
import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import { RepeatedTask } from '#kernel/background-task.js';
import { Database } from '../database/database.js';
import { OperatorKeys } from '../http/access/secret.js';
import type { Logger } from '../observability/logging.js';
import { addDatabaseGauges } from '../observability/database-metrics.js';
import { Health, type Work } from '../observability/health.js';
import { ManagementServer } from '../observability/management-server.js';
import { Metrics } from '../observability/metrics.js';
import { SnapshotWatch } from '../observability/snapshot-watch.js';
import { OperatorsPages, type OpenPages } from '../observability/operators-pages.js';
import type { PlatformSettings } from './settings.js';

/** One connection for health and one for metrics, separate from the connections for the process's own work. */
const POOL_SIZE = 2;
const TIME_LIMIT_MS = 2_000;

const CONNECTED = "SELECT current_setting('transaction_read_only') = 'off' AS usable";

/** Fails unless the process may write. A locked row is a write, and leaves nothing to be removed. */
const WRITABLE = `
  WITH written AS (SELECT FROM sluice.installation LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
  SELECT count(*) >= 0 AND has_table_privilege('sluice.messages', 'SELECT')
    AND has_table_privilege('sluice.messages', 'INSERT') AND has_table_privilege('sluice.messages', 'UPDATE') AS usable
  FROM written`;

/** The path of the pages that show the queue. */
const QUEUE_PATH = '/queues';

interface Running extends Work {
  readonly queuePages: OpenPages;
  stop(): Promise<void>;
}

export interface ManagedProcess {
  /** Where the management port listens, e.g. `http://127.0.0.1:9464`. */
  readonly managementUrl: string;
}

/**
 * Starts a process with a management port, which opens first and closes last. The process is ready from the end of its
 * start to the beginning of its stop.
 * @param migrate migrates the schema, if that is not done already; the readiness reports that it runs
 * @param mount adds routes to the management port
 * @throws UsageError when the management port cannot be opened
 */
export async function startManaged<Process extends Running>(
  settings: PlatformSettings,
  logger: Logger,
  start: (metrics: Metrics) => Promise<Process>,
  migrate?: () => Promise<void>,
  mount: (server: FastifyInstance) => void = () => undefined,
): Promise<Omit<Process, 'queuePages' | keyof Work> & ManagedProcess> {
  const database = await Database.connect({
    url: settings.database.url,
    poolSize: POOL_SIZE,
    applicationName: 'sluice-management',
    timeLimitMs: TIME_LIMIT_MS,
    // Health reports a lost connection.
    onError: () => undefined,
  });
  // Until the schema is there, only the connection: it is refused already if it cannot write.
  let ping = CONNECTED;
  const health = new Health(async () => {
    const [row] = await database.query<{ usable: boolean }>(ping);
    if (row?.usable !== true) throw new Error('A right is missing.');
  });
  const metrics = new Metrics(database);
  metrics.gauge('sluice_database_up', 'Whether the database responds in time', async () =>
    Number(await health.isDatabaseUp()),
  );
  metrics.gauge('sluice_ready', 'Whether the process takes work and can do it', async () =>
    Number((await health.readiness()).ready),
  );
  const snapshots = new RepeatedTask(new SnapshotWatch(database, metrics, logger), ALWAYS_ACTIVE, 'at once');
  addDatabaseGauges(metrics);
  const { operatorKeys } = settings;
  const queue = operatorKeys.length === 0 ? null : new OperatorsPages(QUEUE_PATH, new OperatorKeys(operatorKeys));
  const closing = [() => snapshots.stop(), () => database.close()];
  const close = async () => {
    for (const next of closing) await next();
  };
  try {
    const server = await ManagementServer.open({ ...settings.management, health, metrics, logger, queue, mount });
    closing.unshift(() => server.close());
    if (migrate !== undefined) await health.whileMigrating(migrate);
    const { queuePages, state, isClockRight, isRedisUp, isQueueCurrent, ...running } = await start(metrics);
    queue?.serve(queuePages);
    ping = WRITABLE;
    health.serve({ state, isClockRight, isRedisUp, isQueueCurrent });
    await snapshots.start();
    const stop = async () => {
      health.drain();
      try {
        await running.stop();
      } finally {
        await close();
      }
    };
    return { ...running, managementUrl: server.url, stop };
  } catch (error) {
    await close();
    throw error;
  }
}
