import type { Database } from '#platform/database/database.js';
import type { Metrics } from '#platform/observability/metrics.js';

interface ReconcilerStatus {
  /** Stray messages found. */
  readonly strays: number;
  /** Seconds since the last run began, in any process. */
  readonly age: number;
}

const STATUS_EVERY_MS = 5_000;

/** Gauges of the reconciler, with the same values in all processes of an installation. */
export function addReconcilerGauges(metrics: Metrics, status: (database: Database) => Promise<ReconcilerStatus>): void {
  metrics.storeGauges(
    STATUS_EVERY_MS,
    [
      {
        name: 'sluice_census_violations',
        help: 'Stray messages that the reconciler has found in its last walk through the open ones; any value but 0 is an error',
      },
      {
        name: 'sluice_reconciler_last_run_seconds',
        help: 'How long ago the reconciler has begun to run, in any process',
      },
    ],
    async (database) => {
      const { strays, age } = await status(database);
      return { sluice_census_violations: strays, sluice_reconciler_last_run_seconds: age };
    },
  );
}
