import {
  Module,
  type DynamicModule,
  type FactoryProvider,
  type InjectionToken,
  type Provider,
  type Type,
} from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { Backpressure } from '#platform/concurrency/backpressure.js';
import { ClockWatch } from '#platform/database/clock-watch.js';
import { Database, logLostConnections } from '#platform/database/database.js';
import { Reads } from '#platform/database/reads.js';
import type { Logger } from '#platform/observability/logging.js';
import { BatchMetrics } from '#platform/observability/batch-metrics.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER, SETTINGS, TRACING } from '#platform/process/platform.module.js';
import { provide, provideAs } from '#platform/process/provide.js';
import type { Settings } from '#platform/process/settings.js';
import type { Tracing } from '#platform/observability/tracing/tracing.js';
import { BullMqDeliveryQueue } from '#delivery/adapters/bullmq/bullmq-delivery-queue.js';
import { Consumer } from '#delivery/adapters/bullmq/consumer.js';
import { postgresQueue } from '#delivery/adapters/bullmq/postgres/postgres-queue.js';
import { QueueConnection } from '#delivery/adapters/bullmq/queue-connection.js';
import { redisQueue } from '#delivery/adapters/bullmq/redis/redis-queue.js';
import { clockWatchOptions } from '#delivery/adapters/bullmq/shard-consumer.js';
import { EventsController } from '#events/adapters/http/events.controller.js';
import { LeasesController } from '#pull/adapters/http/leases.controller.js';
import { MessagesController } from './adapters/http/messages.controller.js';
import { LoggingHandler } from '#delivery/adapters/handlers/logging-handler.js';
import { DeliveryMetrics } from '#delivery/adapters/monitoring/delivery-metrics.js';
import { EventMetrics } from '#events/adapters/monitoring/event-metrics.js';
import { LeaseMetrics } from '#pull/adapters/monitoring/lease-metrics.js';
import { ReconcilerMonitor } from '#upkeep/adapters/monitoring/reconciler-monitor.js';
import { RelayMonitor } from '#delivery/adapters/monitoring/relay-monitor.js';
import { RetentionMonitor } from '#upkeep/adapters/monitoring/retention-monitor.js';
import { StorageMonitor } from './adapters/monitoring/storage-monitor.js';
import { addStoreGauges } from './adapters/monitoring/store-metrics.js';
import { outboxBacklog } from '#delivery/adapters/postgres/outbox-backlog.js';
import { PostgresAvailability } from './adapters/postgres/postgres-availability.js';
import { PostgresBacklogs } from './adapters/postgres/postgres-backlogs.js';
import { PostgresCurrentQueue } from '#delivery/adapters/postgres/postgres-current-queue.js';
import { PostgresDeliveries } from './adapters/postgres/postgres-deliveries.js';
import { PostgresEndpointDeliveries } from '#webhooks/adapters/postgres/postgres-endpoint-deliveries.js';
import { PostgresExpiredLeases } from './adapters/postgres/postgres-expired-leases.js';
import { PostgresEventLog } from '#events/adapters/postgres/postgres-event-log.js';
import { PostgresLeases } from './adapters/postgres/postgres-leases.js';
import { PostgresMessages } from './adapters/postgres/postgres-messages.js';
import { PostgresOutbox } from '#delivery/adapters/postgres/postgres-outbox.js';
import { PostgresPartitions } from '#upkeep/adapters/postgres/postgres-partitions.js';
import { PostgresReconcilerTurn } from '#upkeep/adapters/postgres/postgres-reconciler-turn.js';
import { PostgresStorageLedger } from './adapters/postgres/postgres-storage-ledger.js';
import { PostgresStreamPlaces } from '#events/adapters/postgres/postgres-stream-places.js';
import { PostgresWalk } from '#upkeep/adapters/postgres/postgres-walk.js';
import { reconcilerStatus } from '#upkeep/adapters/postgres/reconciler-status.js';
import { spaceLeft } from './adapters/postgres/space-left.js';
import { TracedHandler } from '#delivery/adapters/handlers/traced-handler.js';
import { ApplyRetention } from '#upkeep/application/apply-retention.js';
import { Availability } from './application/availability.js';
import { Backlogs } from './application/backlogs.js';
import { CancelMessage } from './application/cancel-message.js';
import { CurrentQueue } from '#delivery/application/current-queue.js';
import { DeliverMessage } from '#delivery/application/deliver-message.js';
import { Deliveries } from './application/deliveries.js';
import { DeliveryQueue } from '#delivery/application/delivery-queue.js';
import { DeliveryTargets } from './application/delivery-targets.js';
import { EndLeases } from '#pull/application/end-leases.js';
import { EndpointDeliveries } from '#webhooks/application/endpoint-deliveries.js';
import { EventLog, StreamPlaces } from '#events/application/event-log.js';
import { EventStreams } from '#events/application/event-streams.js';
import { ExpiredLeases } from './application/expired-leases.js';
import { FailExpiredLeases } from '#pull/application/fail-expired-leases.js';
import { GetMessageUsage } from './application/get-message-usage.js';
import { GetMessage } from './application/get-message.js';
import { JobEvents } from '#delivery/application/job-events.js';
import { JobFollower } from '#delivery/application/job-follower.js';
import { LeaseMessages } from '#pull/application/lease-messages.js';
import { Leases } from './application/leases.js';
import { ListAttempts } from './application/list-attempts.js';
import { ListMessages } from './application/list-messages.js';
import { MessageHandler } from '#delivery/application/message-handler.js';
import { Messages } from './application/messages.js';
import { OutboxRelay } from '#delivery/application/outbox-relay.js';
import { Outbox } from '#delivery/application/outbox.js';
import { Partitions } from '#upkeep/application/partitions.js';
import { QueueContents } from '#delivery/application/queue-contents.js';
import { QueueMaintenance } from '#delivery/application/queue-maintenance.js';
import { ReconcilerTurn } from '#upkeep/application/reconciler-turn.js';
import { Reconciler } from '#upkeep/application/reconciler.js';
import { QueueRecovery } from '#upkeep/application/queue-recovery.js';
import { RetryFailed } from './application/retry-failed.js';
import { RetryMessage } from './application/retry-message.js';
import { SendBatch } from './application/send-batch.js';
import { SendMessage } from './application/send-message.js';
import { SpaceWatch } from './application/space-watch.js';
import { StorageCap, storageCaps } from './application/storage-cap.js';
import { StorageLedger } from './application/storage-ledger.js';
import { StrayMessages } from '#delivery/application/stray-messages.js';
import { WaitingLeases } from '#pull/application/waiting-leases.js';
import { Walk } from '#upkeep/application/walk.js';
import { Lifecycle } from './lifecycle.js';

/** The providers that apps look up. */
export {
  ClockWatch,
  Consumer,
  CurrentQueue,
  EventStreams,
  QueueConnection,
  QueueContents,
  StrayMessages,
  WaitingLeases,
};
export { openQueuePages } from '#delivery/adapters/bullmq/queue-pages.js';

interface TurnOptions {
  readonly applicationName: string;
  /** Statements of an account at the same time. */
  readonly perCaller: number;
  readonly timeLimitMs?: number;
  readonly asynchronousCommit?: boolean;
}

/**
 * Separate connections for statements that accounts ask for, so that those for sending stay free. An account's statements
 * take turns.
 */
function turns(token: InjectionToken, turnsOf: (settings: Settings['reads']) => TurnOptions): FactoryProvider {
  return {
    provide: token,
    useFactory: async ({ database: { url, poolSize }, reads }: Settings, logger: Logger) => {
      const { perCaller, ...connection } = turnsOf(reads);
      const database = await Database.connect({
        url,
        poolSize: Math.ceil(poolSize / 2),
        inIndexOrder: true,
        onError: logLostConnections(logger),
        ...connection,
      });
      return new Reads(database, { perCaller, maxWaitMs: reads.timeoutMs });
    },
    inject: [SETTINGS, LOGGER],
  };
}

const reads = turns(Reads, ({ perAccount, timeoutMs }) => ({
  applicationName: 'sluice-reads',
  perCaller: perAccount,
  timeLimitMs: timeoutMs,
}));

const LEASING = Symbol('connections that lease');

const leasing = turns(LEASING, () => ({
  applicationName: 'sluice-leases',
  perCaller: 2,
  // A lease need not wait for the disk: if a crash of the database loses it, it only ends early.
  asynchronousCommit: true,
}));

/** What depends on where the jobs are. */
function queue(redis: Settings['redis'], { asynchronousCommit = false, mustReach = false } = {}): Provider[] {
  return [
    provideAs(CurrentQueue, PostgresCurrentQueue, [Database]),
    ...(redis === null ? postgresQueue(asynchronousCommit) : redisQueue(redis, mustReach)),
  ];
}

/** Parts of the settings that constructors take. */
const WORKER = Symbol('settings of workers');
const CLOCK_WATCH = Symbol('settings of the clock watch');
const STORAGE_CAPS = Symbol('storage caps');
const RETENTION_DAYS = Symbol('retention');

function setting(token: symbol, read: (settings: Settings) => unknown): FactoryProvider {
  return { provide: token, useFactory: read, inject: [SETTINGS] };
}

/** The store, the queue, and the background tasks of every process. */
const core: Provider[] = [
  setting(WORKER, ({ worker }) => worker),
  setting(CLOCK_WATCH, ({ worker }) => clockWatchOptions(worker)),
  setting(STORAGE_CAPS, ({ maxStoredMb }) => storageCaps(maxStoredMb)),
  setting(RETENTION_DAYS, ({ retentionDays }) => retentionDays),
  provide(ClockWatch, [Database, CLOCK_WATCH, Metrics, LOGGER]),
  provide(RelayMonitor, [Metrics, LOGGER]),
  provide(ReconcilerMonitor, [Metrics, LOGGER]),
  provide(RetentionMonitor, [Metrics, LOGGER]),
  provide(StorageMonitor, [Metrics, LOGGER]),
  reads,
  {
    provide: PostgresAvailability,
    useFactory: (database: Database, { database: { url } }: Settings) => new PostgresAvailability(database, url),
    inject: [Database, SETTINGS],
  },
  { provide: Availability, useExisting: PostgresAvailability },
  provide(LeaseMetrics, [Metrics]),
  provideAs(ExpiredLeases, PostgresExpiredLeases, [Database, WORKER]),
  provideAs(EventLog, PostgresEventLog, [Database, Reads]),
  provide(FailExpiredLeases, [ExpiredLeases, LeaseMetrics]),
  provide(PostgresMessages, [Database, Reads, OutboxRelay, Availability, BatchMetrics, Backpressure]),
  { provide: Messages, useExisting: PostgresMessages },
  provideAs(Deliveries, PostgresDeliveries, [Database, BatchMetrics]),
  provideAs(EndpointDeliveries, PostgresEndpointDeliveries, [Database, Reads, Availability, BatchMetrics]),
  provideAs(Outbox, PostgresOutbox, [Database]),
  provideAs(Backlogs, PostgresBacklogs, [Reads]),
  provideAs(StorageLedger, PostgresStorageLedger, [Database]),
  provideAs(Partitions, PostgresPartitions, [Database]),
  provide(BullMqDeliveryQueue, [QueueConnection, WORKER, CurrentQueue]),
  { provide: DeliveryQueue, useExisting: BullMqDeliveryQueue },
  provide(OutboxRelay, [Outbox, DeliveryQueue, RelayMonitor]),
  {
    provide: SpaceWatch,
    useFactory: (database: Database, { space }: Settings, monitor: StorageMonitor) => {
      const watch = new SpaceWatch(() => spaceLeft(database, space), monitor);
      monitor.watch(watch);
      return watch;
    },
    inject: [Database, SETTINGS, StorageMonitor],
  },
  provide(StorageCap, [StorageLedger, STORAGE_CAPS, SpaceWatch, StorageMonitor]),
  provideAs(ReconcilerTurn, PostgresReconcilerTurn, [Database]),
  provide(Reconciler, [
    StrayMessages,
    QueueMaintenance,
    Deliveries,
    Messages,
    EventLog,
    FailExpiredLeases,
    ReconcilerTurn,
    ReconcilerMonitor,
  ]),
  provideAs(Walk, PostgresWalk, [Database]),
  {
    provide: QueueRecovery,
    useFactory: (
      queue: QueueContents,
      currentQueue: CurrentQueue,
      walk: Walk,
      reconciler: Reconciler,
      turn: ReconcilerTurn,
      monitor: ReconcilerMonitor,
    ) => new QueueRecovery(queue, currentQueue, walk, () => reconciler.requeueStrays(), turn, monitor),
    inject: [QueueContents, CurrentQueue, Walk, Reconciler, ReconcilerTurn, ReconcilerMonitor],
  },
  provide(JobFollower, [JobEvents, Deliveries, ReconcilerMonitor]),
  provide(ApplyRetention, [Partitions, RETENTION_DAYS, RetentionMonitor]),
  {
    provide: 'metrics of the store',
    useFactory: (metrics: Metrics, queue: QueueConnection, current: CurrentQueue) => {
      addStoreGauges(metrics, {
        backlog: outboxBacklog,
        depth: (database) => queue.depth(database),
        reconciler: reconcilerStatus,
      });
      metrics.gauge('sluice_queue_replaced', 'Whether processes that started later have another queue', () =>
        Number(!current.isCurrent),
      );
    },
    inject: [Metrics, QueueConnection, CurrentQueue],
  },
];

const useCases: FactoryProvider[] = [
  leasing,
  provideAs(Leases, PostgresLeases, [Database, LEASING, WORKER, BatchMetrics]),
  provide(WaitingLeases, [Availability, LeaseMetrics]),
  provide(LeaseMessages, [Leases, WaitingLeases, LeaseMetrics]),
  provide(EndLeases, [Leases, Messages, Availability, WORKER, Clock, LeaseMetrics]),
  provideAs(StreamPlaces, PostgresStreamPlaces, [Database]),
  provide(EventMetrics, [Metrics]),
  provide(EventStreams, [EventLog, StreamPlaces, EventMetrics]),
  provide(SendMessage, [Messages, Ids, Clock, StorageCap, DeliveryTargets]),
  provide(SendBatch, [Messages, Ids, Clock, StorageCap, DeliveryTargets]),
  provide(GetMessage, [Messages]),
  provide(ListMessages, [Messages]),
  provide(ListAttempts, [Messages]),
  provide(CancelMessage, [Messages, OutboxRelay, Clock]),
  provide(RetryMessage, [Messages, Clock, DeliveryTargets, StorageCap]),
  provide(RetryFailed, [Messages, Clock, DeliveryTargets, StorageCap]),
  provide(GetMessageUsage, [Backlogs, StorageLedger, STORAGE_CAPS]),
];

const TRACED_HANDLER = Symbol('traced handler');

const consuming: FactoryProvider[] = [
  {
    provide: TRACED_HANDLER,
    useFactory: (handler: MessageHandler, tracing: Tracing | null, { queueName }: Settings) =>
      tracing === null ? handler : new TracedHandler(handler, tracing, queueName),
    inject: [MessageHandler, TRACING, SETTINGS],
  },
  provide(DeliveryMetrics, [Metrics]),
  provide(DeliverMessage, [Deliveries, TRACED_HANDLER, WORKER, Clock, DeliveryMetrics]),
  provide(Consumer, [QueueConnection, BullMqDeliveryQueue, DeliverMessage, WORKER, ClockWatch, LOGGER]),
];

const lifecycle = [
  SETTINGS,
  PostgresMessages,
  StorageCap,
  SpaceWatch,
  OutboxRelay,
  PostgresAvailability,
  Reconciler,
  CurrentQueue,
  QueueRecovery,
  ApplyRetention,
  JobFollower,
  ClockWatch,
] as const;

/** A Nest module that exports a `MessageHandler`. */
export type HandlerModule = Type | DynamicModule;

@Module({})
export class MessagesModule {
  /** Accepts messages over HTTP. */
  static forApi({ redis }: Settings): DynamicModule {
    return {
      module: MessagesModule,
      controllers: [MessagesController, LeasesController, EventsController],
      providers: [...queue(redis), ...core, ...useCases, provide(Lifecycle, [...lifecycle])],
      exports: [
        ClockWatch,
        CurrentQueue,
        QueueConnection,
        GetMessageUsage,
        WaitingLeases,
        EventStreams,
        EndpointDeliveries,
        StorageCap,
      ],
    };
  }

  /** @param handler a handler, or a module that exports one; null only logs deliveries */
  static forWorker({ redis }: Settings, handler: MessageHandler | HandlerModule | null): DynamicModule {
    const isModule = handler !== null && !('handle' in handler);
    const handlerProvider = {
      provide: MessageHandler,
      useFactory: (logger: Logger) => handler ?? new LoggingHandler(logger),
      inject: [LOGGER],
    };
    return {
      module: MessagesModule,
      imports: isModule ? [handler] : [],
      providers: [
        // A job that a crash of the database restores is skipped: the result of its delivery was already on disk.
        ...queue(redis, { asynchronousCommit: true }),
        ...core,
        ...consuming,
        ...(isModule ? [] : [handlerProvider]),
        provide(Lifecycle, [...lifecycle, Consumer]),
      ],
      exports: [ClockWatch, CurrentQueue, QueueConnection, Consumer, EndpointDeliveries],
    };
  }

  /** For commands that query the store and run nothing in the background. */
  static forTools({ redis }: Settings): DynamicModule {
    return {
      module: MessagesModule,
      providers: queue(redis, { mustReach: true }),
      exports: [CurrentQueue, QueueContents, StrayMessages],
    };
  }
}
