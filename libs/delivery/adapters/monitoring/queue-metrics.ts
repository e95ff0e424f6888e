import type { Database } from '#platform/database/database.js';
import type { Metrics } from '#platform/observability/metrics.js';
import type { CurrentQueue } from '../../application/current-queue.js';
import type { QueueDepth } from '../../application/job-queue.js';

export interface OutboxBacklog {
  readonly entries: number;
  readonly messages: number;
  /** Seconds; 0 when there is none. */
  readonly oldest: number;
}

const DEPTH_EVERY_MS = 5_000;

/** Gauges of messages that are stored but not delivered, with the same values in all processes of an installation. */
export function addQueueGauges(
  metrics: Metrics,
  backlog: (database: Database) => Promise<OutboxBacklog>,
  depth: (database: Database) => Promise<QueueDepth>,
  current: CurrentQueue,
): void {
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
      const { entries, messages, oldest } = await backlog(database);
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
      const { jobs, oldest } = await depth(database);
      return { sluice_queue_jobs: jobs, sluice_queue_oldest_waiting_seconds: oldest };
    },
  );
  metrics.gauge('sluice_queue_replaced', 'Whether processes that started later have another queue', () =>
    Number(!current.isCurrent),
  );
}
