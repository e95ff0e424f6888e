import type { Database } from '#platform/database/database.js';
import type { Metrics } from '#platform/observability/metrics.js';

export interface OutboxBacklog {
  readonly entries: number;
  readonly messages: number;
  /** Seconds; 0 when there is none. */
  readonly oldest: number;
}

export interface Depth {
  readonly jobs: Readonly<Record<string, number>>;
  /** Seconds; 0 when none waits. */
  readonly oldest: number;
}

interface ReconcilerStatus {
  /** Stray messages found. */
  readonly strays: number;
  /** Seconds since the last run began, in any process. */
  readonly age: number;
}

/** The queries of the store. */
interface StoreQueries {
  backlog(database: Database): Promise<OutboxBacklog>;
  depth(database: Database): Promise<Depth>;
  reconciler(database: Database): Promise<ReconcilerStatus>;
}

const DEPTH_EVERY_MS = 5_000;

/** Gauges of messages that are stored but not delivered, with the same values in all processes of an installation. */
export function addStoreGauges(metrics: Metrics, queries: StoreQueries): void {
  metrics.storeGauges(
    DEPTH_EVERY_MS,
    [
      {
        name: 'sluice_outbox_entries',
        help: 'Outbox entries that are due and not yet in the queue, up to 10,000',
      },
      { name: 'sluice_outbox_messages', help: 'Messages in these entries' },
      { name: 'sluice_outbox_oldest_seconds', help: 'How long the oldest of these entries has been due' },
    ],
    async (database) => {
      const { entries, messages, oldest } = await queries.backlog(database);
      return { sluice_outbox_entries: entries, sluice_outbox_messages: messages, sluice_outbox_oldest_seconds: oldest };
    },
  );
  metrics.storeGauges(
    DEPTH_EVERY_MS,
    [
      {
        name: 'sluice_queue_jobs',
        help: 'Jobs in the queue by state, each up to 100,000',
        label: 'state',
      },
      {
        name: 'sluice_queue_oldest_waiting_seconds',
        help: 'How long the next job has waited since it was added or last tried',
      },
    ],
    async (database) => {
      const { jobs, oldest } = await queries.depth(database);
      return { sluice_queue_jobs: jobs, sluice_queue_oldest_waiting_seconds: oldest };
    },
  );
  metrics.storeGauges(
    DEPTH_EVERY_MS,
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
      const { strays, age } = await queries.reconciler(database);
      return { sluice_census_violations: strays, sluice_reconciler_last_run_seconds: age };
    },
  );
}
