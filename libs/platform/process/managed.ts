import { Database } from '../database/database.js';
import { Secret } from '../http/secret.js';
import type { Logger } from '../logging.js';
import { Health } from '../management/health.js';
import { ManagementServer } from '../management/management-server.js';
import { Metrics } from '../management/metrics.js';
import { OperatorsPages, type OpenPages } from '../management/operators-pages.js';
import type { Settings } from '../settings.js';

/** Neither health nor metrics wait for the other, nor for connections that the process's own work has taken. */
const POOL_SIZE = 2;
const TIME_LIMIT_MS = 2_000;

/** Where operators look into the queue. */
export const QUEUE_PATH = '/queues';

interface Running {
  /** What they see there. */
  readonly queuePages: OpenPages;
  /** False while something keeps the process from its work; it always takes some where this is left out. */
  readonly takesWork?: () => boolean;
  stop(): Promise<void>;
}

export interface Managed {
  /** Where the management port listens, e.g. `http://127.0.0.1:9464`. */
  readonly managementUrl: string;
}

/**
 * Starts a process behind a management port, which opens before all else and closes after it: as long as there is
 * anything to see, it can be seen. Readiness is off until the process has started, and again before it is stopped.
 * @param migrate brings the schema up to date where that is not done already; whoever looks can see that it runs
 * @throws UsageError when the port can't be had
 */
export async function managed<Process extends Running>(
  settings: Settings,
  logger: Logger,
  start: (metrics: Metrics) => Promise<Process>,
  migrate?: () => Promise<void>,
): Promise<Omit<Process, 'queuePages' | 'takesWork'> & Managed> {
  const database = await Database.connect({
    url: settings.database.url,
    poolSize: POOL_SIZE,
    applicationName: 'sluice-management',
    timeLimitMs: TIME_LIMIT_MS,
    // What is lost here is told by the health.
    onError: () => undefined,
  });
  const health = new Health(() => database.query('SELECT 1'));
  const metrics = new Metrics(database);
  metrics.gauge('sluice_database_up', 'Whether the database answers in time', async () =>
    Number(await health.databaseAnswers()),
  );
  metrics.gauge('sluice_ready', 'Whether the process takes work and can do it', async () =>
    Number((await health.readiness()).ready),
  );
  const { adminApiKey } = settings;
  const queue = adminApiKey === null ? null : new OperatorsPages(QUEUE_PATH, new Secret(adminApiKey));
  const closing = [() => database.close()];
  const close = async () => {
    for (const next of closing) await next();
  };
  try {
    const server = await ManagementServer.open(settings.management, { health, metrics, logger, queue });
    closing.unshift(() => server.close());
    if (migrate !== undefined) await health.whileMigrating(migrate);
    const { queuePages, takesWork, ...running } = await start(metrics);
    queue?.show(queuePages);
    health.serve(takesWork);
    const stop = async () => {
      health.drain();
      await running.stop().finally(close);
    };
    return { ...running, managementUrl: server.url, stop };
  } catch (error) {
    await close();
    throw error;
  }
}
