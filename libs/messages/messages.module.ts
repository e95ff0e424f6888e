import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { Database } from '#platform/database/database.js';
import { provideReads, ReadsModule } from '#platform/database/reads.module.js';
import { Reads } from '#platform/database/reads.js';
import { BatchMetrics } from '#platform/observability/batch-metrics.js';
import { provide, provideAs } from '#platform/process/provide.js';
import { MessagesController } from './adapters/http/messages.controller.js';
import { PostgresAvailability } from './adapters/postgres/postgres-availability.js';
import { PostgresBacklogs } from './adapters/postgres/reading/postgres-backlogs.js';
import { ForgetMessages } from './adapters/postgres/forgetting/forget-messages.js';
import { PostgresLeases } from './adapters/postgres/leases/postgres-leases.js';
import { PostgresMessages } from './adapters/postgres/postgres-messages.js';
import { Availability } from './application/delivering/availability.js';
import { Backlogs } from './application/backlogs.js';
import { CancelMessage } from './application/changes/cancel-message.js';
import { CancelQueued } from './application/changes/cancel-queued.js';
import { GetMessageUsage } from './application/storage/get-message-usage.js';
import { JobDispatch } from './application/delivering/job-dispatch.js';
import { Leases } from './application/delivering/leases.js';
import { ReadMessages } from './application/read-messages.js';
import { AdmitSending } from './application/storage/admit-sending.js';
import { Messages } from './application/messages.js';
import { RetryFailed } from './application/changes/retry-failed.js';
import { RetryMessage } from './application/changes/retry-message.js';
import { SendBatch } from './application/sending/send-batch.js';
import { SendMessage } from './application/sending/send-message.js';
import { SpaceWatch } from './application/storage/space-watch.js';
import { StorageCap } from './application/storage/storage-cap.js';
import { StorageLedger } from './application/storage/storage-ledger.js';
import { PUBLISHED, RETRIES, STORAGE_LIMITS, store } from './store.module.js';

/** What the process starts and stops. */
export { ForgetMessages, PostgresAvailability, PostgresMessages, SpaceWatch, StorageCap };

const LEASING = Symbol('connections that lease');

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
