import type { Database } from '#platform/database/database.js';
import type { Metrics } from '#platform/observability/metrics.js';

const BACKLOG_EVERY_MS = 5_000;
const OLDEST_DUE = 'sluice_webhook_oldest_due_seconds';

/** APIs have it as well: it must grow while there is no worker. */
export function addBacklogGauge(metrics: Metrics, oldestDue: (database: Database) => Promise<number>): void {
  metrics.storeGauges(
    BACKLOG_EVERY_MS,
    [{ name: OLDEST_DUE, help: 'How long the oldest delivery to an endpoint has been due' }],
    async (database) => ({ [OLDEST_DUE]: await oldestDue(database) }),
  );
}
