import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { Backpressure } from '#platform/concurrency/backpressure.js';
import { Database } from '#platform/database/database.js';
import { provideReads, ReadsModule } from '#platform/database/reads.module.js';
import { Reads } from '#platform/database/reads.js';
import { BatchMetrics } from '#platform/observability/batch-metrics.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER, SETTINGS } from '#platform/process/platform.module.js';
import { provide, provideAs, provideSetting } from '#platform/process/provide.js';
import type { PlatformSettings } from '#platform/process/settings.js';
import { MessagesController } from './adapters/http/messages.controller.js';
import { StorageMonitor } from './adapters/monitoring/storage-monitor.js';
import { PostgresAvailability } from './adapters/postgres/postgres-availability.js';
import { PostgresBacklogs } from './adapters/postgres/postgres-backlogs.js';
import { PostgresDeliveries } from './adapters/postgres/postgres-deliveries.js';
import { PostgresExpiredLeases } from './adapters/postgres/postgres-expired-leases.js';
import { PostgresLeases } from './adapters/postgres/postgres-leases.js';
import { PostgresMessages } from './adapters/postgres/postgres-messages.js';
import { PostgresStorageLedger } from './adapters/postgres/postgres-storage-ledger.js';
import { spaceLeft } from './adapters/postgres/space-left.js';
import { Availability } from './application/availability.js';
import { Backlogs } from './application/backlogs.js';
import { CancelMessage } from './application/cancel-message.js';
import { Deliveries } from './application/deliveries.js';
import { DeliveryTargets } from './application/delivery-targets.js';
import { ExpiredLeases } from './application/expired-leases.js';
import { GetMessageUsage } from './application/get-message-usage.js';
import { GetMessage } from './application/get-message.js';
import { JobDispatch } from './application/job-dispatch.js';
import { Leases } from './application/leases.js';
import { ListAttempts } from './application/list-attempts.js';
import { ListMessages } from './application/list-messages.js';
import { Messages } from './application/messages.js';
import { RetryFailed } from './application/retry-failed.js';
import { RetryMessage } from './application/retry-message.js';
import { SendBatch } from './application/send-batch.js';
import { SendMessage } from './application/send-message.js';
import { SpaceWatch } from './application/space-watch.js';
import { StorageCap, storageCaps } from './application/storage-cap.js';
import { StorageLedger } from './application/storage-ledger.js';
import type { MessagesSettings } from './settings.js';

/** What the process starts and stops. */
export { PostgresAvailability, PostgresMessages, SpaceWatch, StorageCap };

const RETRIES = Symbol('retries of failed attempts');
const STORAGE_CAPS = Symbol('storage caps');
const LEASING = Symbol('connections that lease');

const store: Provider[] = [
  provideSetting(RETRIES, ({ retries }: MessagesSettings) => retries),
  provideSetting(STORAGE_CAPS, ({ maxStoredMb }: MessagesSettings) => storageCaps(maxStoredMb)),
  provide(StorageMonitor, [Metrics, LOGGER]),
  {
    provide: PostgresAvailability,
    useFactory: (database: Database, { database: { url } }: PlatformSettings) =>
      new PostgresAvailability(database, url),
    inject: [Database, SETTINGS],
  },
  { provide: Availability, useExisting: PostgresAvailability },
  provideAs(ExpiredLeases, PostgresExpiredLeases, [Database, RETRIES]),
  provide(PostgresMessages, [Database, Reads, JobDispatch, Availability, BatchMetrics, Backpressure]),
  { provide: Messages, useExisting: PostgresMessages },
  provideAs(Deliveries, PostgresDeliveries, [Database, BatchMetrics]),
  provideAs(StorageLedger, PostgresStorageLedger, [Database]),
  {
    provide: SpaceWatch,
    useFactory: (database: Database, { space }: MessagesSettings, monitor: StorageMonitor) => {
      const watch = new SpaceWatch(() => spaceLeft(database, space), monitor);
      monitor.watch(watch);
      return watch;
    },
    inject: [Database, SETTINGS, StorageMonitor],
  },
  provide(StorageCap, [StorageLedger, STORAGE_CAPS, SpaceWatch, StorageMonitor]),
];

const useCases: Provider[] = [
  // A lease need not wait for the disk: if a crash of the database loses it, it only ends early.
  provideReads(LEASING, () => ({ applicationName: 'sluice-leases', perCaller: 2, asynchronousCommit: true })),
  provideAs(Leases, PostgresLeases, [Database, LEASING, RETRIES, BatchMetrics]),
  provideAs(Backlogs, PostgresBacklogs, [Reads]),
  provide(SendMessage, [Messages, Ids, Clock, StorageCap, DeliveryTargets]),
  provide(SendBatch, [Messages, Ids, Clock, StorageCap, DeliveryTargets]),
  provide(GetMessage, [Messages]),
  provide(ListMessages, [Messages]),
  provide(ListAttempts, [Messages]),
  provide(CancelMessage, [Messages, JobDispatch, Clock]),
  provide(RetryMessage, [Messages, Clock, DeliveryTargets, StorageCap]),
  provide(RetryFailed, [Messages, Clock, DeliveryTargets, StorageCap]),
  provide(GetMessageUsage, [Backlogs, StorageLedger, STORAGE_CAPS]),
];

const PUBLISHED = [Availability, ExpiredLeases, Messages, Deliveries, StorageCap];

@Module({})
export class MessagesModule {
  /**
   * Accepts messages over HTTP.
   * @param queue the module that exports `JobDispatch`
   */
  static forApi(queue: DynamicModule): DynamicModule {
    return {
      module: MessagesModule,
      imports: [queue, ReadsModule],
      controllers: [MessagesController],
      providers: [...store, ...useCases],
      exports: [...PUBLISHED, Leases, GetMessageUsage],
    };
  }

  /** The store, for processes that deliver messages. */
  static forWorker(queue: DynamicModule): DynamicModule {
    return { module: MessagesModule, imports: [queue, ReadsModule], providers: store, exports: PUBLISHED };
  }
}
