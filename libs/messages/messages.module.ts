import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
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
import { MessagesController } from './adapters/http/messages.controller.js';
import { StorageMonitor } from './adapters/monitoring/storage-monitor.js';
import { PostgresAvailability } from './adapters/postgres/postgres-availability.js';
import { PostgresBacklogs } from './adapters/postgres/reading/postgres-backlogs.js';
import { PostgresDeliveries } from './adapters/postgres/claims/postgres-deliveries.js';
import { ForgetMessages } from './adapters/postgres/forgetting/forget-messages.js';
import { PostgresExpiredLeases } from './adapters/postgres/leases/postgres-expired-leases.js';
import { PostgresLeases } from './adapters/postgres/leases/postgres-leases.js';
import { PostgresStuckKeys } from './adapters/postgres/order/postgres-stuck-keys.js';
import { Releases } from './adapters/postgres/order/releases.js';
import { PostgresMessages } from './adapters/postgres/postgres-messages.js';
import { PostgresStorageLedger } from './adapters/postgres/storage/postgres-storage-ledger.js';
import { PostgresSpace } from './adapters/postgres/storage/postgres-space.js';
import { Availability } from './application/delivering/availability.js';
import { Backlogs } from './application/backlogs.js';
import { CancelMessage } from './application/changes/cancel-message.js';
import { CancelQueued } from './application/changes/cancel-queued.js';
import { Deliveries } from './application/delivering/deliveries.js';
import { ExpiredLeases } from './application/delivering/expired-leases.js';
import { GetMessageUsage } from './application/storage/get-message-usage.js';
import { JobDispatch } from './application/delivering/job-dispatch.js';
import { Leases } from './application/delivering/leases.js';
import { ReadMessages } from './application/read-messages.js';
import { AdmitSending } from './application/storage/admit-sending.js';
import { Messages } from './application/messages.js';
import { StuckKeys } from './application/delivering/stuck-keys.js';
import { RetryFailed } from './application/changes/retry-failed.js';
import { RetryMessage } from './application/changes/retry-message.js';
import { SendBatch } from './application/sending/send-batch.js';
import { SendMessage } from './application/sending/send-message.js';
import { Space, SpaceWatch } from './application/storage/space-watch.js';
import { StorageCap } from './application/storage/storage-cap.js';
import { StorageLedger } from './application/storage/storage-ledger.js';
import type { MessagesSettings } from './settings.js';

/** What the process starts and stops. */
export { ForgetMessages, PostgresAvailability, PostgresMessages, SpaceWatch, StorageCap };

const RETRIES = Symbol('retries of failed attempts');
const STORAGE_LIMITS = Symbol('limits of storage');
const SPACE_LIMITS = Symbol('limits of space');
const LEASING = Symbol('connections that lease');

const store: Provider[] = [
  provideSetting(RETRIES, ({ retries }: MessagesSettings) => retries),
  provideSetting(STORAGE_LIMITS, ({ maxStoredMb }: MessagesSettings) => maxStoredMb),
  provide(StorageMonitor, [Metrics, LOGGER]),
  provide(PostgresAvailability, [Database, SETTINGS, Activity]),
  { provide: Availability, useExisting: PostgresAvailability },
  provideAs(ExpiredLeases, PostgresExpiredLeases, [Database, RETRIES, Availability]),
  provide(Releases, [Database, JobDispatch, Availability]),
  provideAs(StuckKeys, PostgresStuckKeys, [Database, Releases]),
  provide(PostgresMessages, [Database, Reads, JobDispatch, Availability, Releases, BatchMetrics, Backpressure]),
  { provide: Messages, useExisting: PostgresMessages },
  provideAs(Deliveries, PostgresDeliveries, [Database, Releases, BatchMetrics]),
  provideAs(StorageLedger, PostgresStorageLedger, [Database]),
  provideSetting(SPACE_LIMITS, ({ space }: MessagesSettings) => space),
  provideAs(Space, PostgresSpace, [Database, SPACE_LIMITS]),
  provide(SpaceWatch, [Space, StorageMonitor]),
  provide(StorageCap, [StorageLedger, STORAGE_LIMITS, SpaceWatch, StorageMonitor]),
];

const useCases: Provider[] = [
  // A lease need not wait for the disk: if a crash of the database loses it, it only ends early.
  provideReads(LEASING, () => ({ applicationName: 'sluice-leases', perCaller: 2, asynchronousCommit: true })),
  provideAs(Leases, PostgresLeases, [Database, LEASING, RETRIES, Availability, BatchMetrics]),
  provide(ForgetMessages, [Database]),
  provideAs(Backlogs, PostgresBacklogs, [Reads]),
  provide(AdmitSending, [StorageCap, Messages]),
  provide(SendMessage, [Messages, Ids, Clock, AdmitSending, StorageCap]),
  provide(SendBatch, [Messages, Ids, Clock, AdmitSending, StorageCap]),
  provide(ReadMessages, [Messages]),
  provide(CancelMessage, [Messages, JobDispatch, Clock]),
  provide(CancelQueued, [Messages, JobDispatch]),
  provide(RetryMessage, [Messages, Clock, StorageCap]),
  provide(RetryFailed, [Messages, Clock, StorageCap]),
  provide(GetMessageUsage, [Backlogs, StorageLedger, STORAGE_LIMITS]),
];

const PUBLISHED = [Availability, ExpiredLeases, Messages, Deliveries, StorageCap, StuckKeys];

@Module({})
export class MessagesModule {
  /** Accepts messages over HTTP. @param queue the module that exports `JobDispatch` */
  static forApi(queue: DynamicModule): DynamicModule {
    return {
      ...MessagesModule.forWorker(queue),
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
