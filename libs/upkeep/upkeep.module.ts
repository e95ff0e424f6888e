import { Module, type DynamicModule } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import { CurrentQueue, JobQueue, StrayMessages } from '#delivery/index.js';
import { EventLog } from '#events/index.js';
import { Deliveries, Messages, StuckKeys } from '#messages/index.js';
import { Database } from '#platform/database/database.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER } from '#platform/process/platform.module.js';
import { provide, provideAs, provideSetting } from '#platform/process/provide.js';
import { EndExpiredLeases } from '#pull/index.js';
import { SettleUsage } from '#usage/index.js';
import { addReconcilerGauges } from './adapters/monitoring/reconciler-metrics.js';
import { ReconcilerMonitor } from './adapters/monitoring/reconciler-monitor.js';
import { RetentionMonitor } from './adapters/monitoring/retention-monitor.js';
import { PostgresPartitions } from './adapters/postgres/postgres-partitions.js';
import { PostgresReconciliation } from './adapters/postgres/postgres-reconciliation.js';
import { reconcilerStatus } from './adapters/postgres/reconciler-status.js';
import { ApplyRetention } from './application/apply-retention.js';
import { JobFollower } from './application/job-follower.js';
import { Partitions } from './application/partitions.js';
import { QueueRecovery } from './application/queue-recovery.js';
import { Reconciler } from './application/reconciler.js';
import type { UpkeepSettings } from './settings.js';
import { Reconciliation } from './application/reconciliation.js';

/** What the process starts and stops. */
export { ApplyRetention, JobFollower, QueueRecovery, Reconciler };

const RETENTION_DAYS = Symbol('retention');

/** Repairs what faults have left behind, and removes what is no longer needed, in every process. */
@Module({})
export class UpkeepModule {
  /** @param contexts the modules that export what is kept up */
  static of(contexts: DynamicModule[]): DynamicModule {
    return {
      module: UpkeepModule,
      imports: contexts,
      providers: [
        provideSetting(RETENTION_DAYS, ({ retentionDays }: UpkeepSettings) => retentionDays),
        provide(ReconcilerMonitor, [Metrics, LOGGER]),
        provide(RetentionMonitor, [Metrics, LOGGER]),
        provideAs(Partitions, PostgresPartitions, [Database]),
        provideAs(Reconciliation, PostgresReconciliation, [Database]),
        provide(Reconciler, [
          ...([StrayMessages, JobQueue, Deliveries, Messages, EventLog, EndExpiredLeases] as const),
          ...([StuckKeys, Reconciliation, ReconcilerMonitor, Activity] as const),
        ]),
        {
          provide: QueueRecovery,
          useFactory: (
            queue: JobQueue,
            strays: StrayMessages,
            currentQueue: CurrentQueue,
            reconciliation: Reconciliation,
            reconciler: Reconciler,
            monitor: ReconcilerMonitor,
            activity: Activity,
          ) =>
            new QueueRecovery(
              queue,
              strays,
              currentQueue,
              reconciliation,
              () => reconciler.requeueStrays(),
              monitor,
              activity,
            ),
          inject: [JobQueue, StrayMessages, CurrentQueue, Reconciliation, Reconciler, ReconcilerMonitor, Activity],
        },
        provide(JobFollower, [JobQueue, StrayMessages, Deliveries, ReconcilerMonitor, Activity]),
        provide(ApplyRetention, [Partitions, SettleUsage, RETENTION_DAYS, RetentionMonitor]),
        {
          provide: 'metrics of the reconciler',
          useFactory: (metrics: Metrics) => {
            addReconcilerGauges(metrics, reconcilerStatus);
          },
          inject: [Metrics],
        },
      ],
    };
  }
}
