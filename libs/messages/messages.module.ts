import {
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type FactoryProvider,
  type INestApplicationContext,
  type OnApplicationBootstrap,
  type Type,
} from '@nestjs/common';
import type { Queue } from 'bullmq';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { Backpressure } from '#platform/backpressure.js';
import { Database } from '#platform/database/database.js';
import type { Logger } from '#platform/logging.js';
import { observers } from '#platform/batcher.js';
import { BatchMetrics } from '#platform/management/batch-metrics.js';
import { Metrics } from '#platform/management/metrics.js';
import { LOGGER, SETTINGS, TRACING } from '#platform/platform.module.js';
import { provide, provideAs } from '#platform/provide.js';
import type { Settings } from '#platform/settings.js';
import type { Tracing } from '#platform/tracing/tracing.js';
import { BullMqDeliveryQueue } from './adapters/bullmq/bullmq-delivery-queue.js';
import { Consumer } from './adapters/bullmq/consumer.js';
import { PostgresCensus } from './adapters/bullmq/postgres-census.js';
import { nextPriority, queueDepth } from './adapters/bullmq/postgres-queue-depth.js';
import { queuePages } from './adapters/bullmq/queue-pages.js';
import { openQueueConnection, type QueueConnection } from './adapters/bullmq/queue-connection.js';
import { MessagesController } from './adapters/http/messages.controller.js';
import { LoggingHandler } from './adapters/logging-handler.js';
import { DeliveryMetrics } from './adapters/metrics/delivery-metrics.js';
import { ReconcilerMetrics } from './adapters/metrics/reconciler-metrics.js';
import { RelayMetrics } from './adapters/metrics/relay-metrics.js';
import { countStorageRefusals } from './adapters/metrics/storage-metrics.js';
import { RetentionMetrics } from './adapters/metrics/retention-metrics.js';
import { watchStore } from './adapters/metrics/store-metrics.js';
import { outboxBacklog } from './adapters/postgres/outbox-backlog.js';
import { PostgresBacklogs } from './adapters/postgres/postgres-backlogs.js';
import { PostgresDeliveries } from './adapters/postgres/postgres-deliveries.js';
import { PostgresMessages } from './adapters/postgres/postgres-messages.js';
import { PostgresOutbox } from './adapters/postgres/postgres-outbox.js';
import { PostgresPartitions } from './adapters/postgres/postgres-partitions.js';
import { PostgresStorageLedger } from './adapters/postgres/postgres-storage-ledger.js';
import { TracedHandler } from './adapters/traced-handler.js';
import { ApplyRetention } from './application/apply-retention.js';
import { Backlogs } from './application/backlogs.js';
import { CancelMessage } from './application/cancel-message.js';
import { Census } from './application/census.js';
import { DeliverMessage } from './application/deliver-message.js';
import { Deliveries } from './application/deliveries.js';
import { DeliveryQueue } from './application/delivery-queue.js';
import { GetMessage } from './application/get-message.js';
import { GetMessageUsage } from './application/get-message-usage.js';
import { JobFollower } from './application/job-follower.js';
import { ListAttempts } from './application/list-attempts.js';
import { ListMessages } from './application/list-messages.js';
import { MessageHandler } from './application/message-handler.js';
import { Messages } from './application/messages.js';
import { OutboxRelay, type RelayReport } from './application/outbox-relay.js';
import { Outbox } from './application/outbox.js';
import { Partitions } from './application/partitions.js';
import { Reconciler } from './application/reconciler.js';
import { RetryFailed } from './application/retry-failed.js';
import { RetryMessage } from './application/retry-message.js';
import { SendBatch } from './application/send-batch.js';
import { SendMessage } from './application/send-message.js';
import { StorageCap } from './application/storage-cap.js';
import { StorageLedger } from './application/storage-ledger.js';

const QUEUE_CONNECTION = Symbol('queue connection');
const QUEUE = Symbol('queue');
const STORE_METRICS = Symbol('metrics of the store');

const FOLLOW_EVERY_MS = 500;
const RETENTION_EVERY_MS = 3_600_000;

function queueConnection({ asynchronousCommit = false }): FactoryProvider {
  return {
    provide: QUEUE_CONNECTION,
    useFactory: ({ database: { url, poolSize } }: Settings, logger: Logger) => {
      const onError = (error: Error) => {
        logger.warn({ err: error }, 'queue connection lost');
      };
      return openQueueConnection({ url, poolSize, asynchronousCommit, onError });
    },
    inject: [SETTINGS, LOGGER],
  };
}

/** Store, queue, and what carries messages from one to the other: both processes have all of it. */
const core: FactoryProvider[] = [
  {
    provide: QUEUE,
    useFactory: ({ queueName }: Settings, { classes, pool }: QueueConnection, logger: Logger) => {
      const queue = new classes.Queue(queueName, { connection: pool });
      queue.on('error', (error) => {
        logger.warn({ err: error }, 'queue');
      });
      return queue;
    },
    inject: [SETTINGS, QUEUE_CONNECTION, LOGGER],
  },
  {
    provide: DeliveryQueue,
    useFactory: (queue: Queue, { worker }: Settings, { pool }: QueueConnection) =>
      new BullMqDeliveryQueue(queue, worker, () => nextPriority(pool, queue.name)),
    inject: [QUEUE, SETTINGS, QUEUE_CONNECTION],
  },
  provide(RelayMetrics, [Metrics]),
  provideAs(Backlogs, PostgresBacklogs, [Database]),
  provideAs(StorageLedger, PostgresStorageLedger, [Database]),
  {
    provide: StorageCap,
    useFactory: (ledger: StorageLedger, settings: Settings, metrics: Metrics, logger: Logger) => {
      const refusals = countStorageRefusals(metrics);
      return new StorageCap(ledger, settings.maxStoredBytesPerAccount, {
        refused: () => {
          refusals.add();
        },
        failed: (error) => {
          logger.warn({ err: error }, 'counting what is stored failed');
        },
      });
    },
    inject: [StorageLedger, SETTINGS, Metrics, LOGGER],
  },
  { provide: Outbox, useFactory: (database: Database) => new PostgresOutbox(database), inject: [Database] },
  {
    provide: OutboxRelay,
    useFactory: (outbox: Outbox, queue: DeliveryQueue, metrics: RelayMetrics, logger: Logger) => {
      const report = ({ event, error }: RelayReport) => {
        metrics.fault(event);
        logger.warn({ err: error }, event);
      };
      const relay = new OutboxRelay(outbox, queue, report, metrics.relayed);
      metrics.watch(relay);
      return relay;
    },
    inject: [Outbox, DeliveryQueue, RelayMetrics, LOGGER],
  },
  {
    provide: Messages,
    useFactory: (database: Database, relay: OutboxRelay, batches: BatchMetrics, backpressure: Backpressure) =>
      new PostgresMessages(database, relay, (name) =>
        // Requests with a key may have to wait for the first with the same one: that is no sign of overload.
        name === 'accept' ? observers(batches.observer(name), backpressure.observer()) : batches.observer(name),
      ),
    inject: [Database, OutboxRelay, BatchMetrics, Backpressure],
  },
  {
    provide: Deliveries,
    useFactory: (database: Database, batches: BatchMetrics) =>
      new PostgresDeliveries(database, (name) => batches.observer(name)),
    inject: [Database, BatchMetrics],
  },
  {
    provide: Census,
    useFactory: (database: Database, queue: Queue, { worker }: Settings) =>
      new PostgresCensus(database, queue, worker.lockMs),
    inject: [Database, QUEUE, SETTINGS],
  },
  {
    provide: STORE_METRICS,
    useFactory: (metrics: Metrics, queue: Queue, { worker }: Settings) => {
      watchStore(metrics, {
        backlog: outboxBacklog,
        depth: (database) => queueDepth(database, queue.name),
        strays: (database) => new PostgresCensus(database, queue, worker.lockMs).countAmongOldest(),
      });
    },
    inject: [Metrics, QUEUE, SETTINGS],
  },
  {
    provide: Reconciler,
    useFactory: (
      census: Census,
      deliveries: Deliveries,
      messages: Messages,
      clock: Clock,
      metrics: Metrics,
      logger: Logger,
    ) => {
      const reconciling = new ReconcilerMetrics(metrics);
      return new Reconciler(census, deliveries, messages, clock, (result) => {
        reconciling.ran(result);
        if (result instanceof Error) logger.warn({ err: result }, 'reconciling failed');
        else if (result.requeued > 0) logger.warn(result, 'strays were put on their way again');
      });
    },
    inject: [Census, Deliveries, Messages, Clock, Metrics, LOGGER],
  },
  { provide: Partitions, useFactory: (database: Database) => new PostgresPartitions(database), inject: [Database] },
  {
    provide: ApplyRetention,
    useFactory: (partitions: Partitions, { retentionDays }: Settings, metrics: Metrics, logger: Logger) => {
      const retaining = new RetentionMetrics(metrics);
      return new ApplyRetention(partitions, retentionDays, (result) => {
        retaining.ran(result);
        if (result instanceof Error) logger.warn({ err: result }, 'removing old messages failed');
        else if (result.removed.length + result.stragglers > 0) logger.info(result, 'old messages were removed');
      });
    },
    inject: [Partitions, SETTINGS, Metrics, LOGGER],
  },
  {
    provide: JobFollower,
    useFactory: (census: Census, deliveries: Deliveries, logger: Logger) =>
      new JobFollower(census, deliveries, (error) => {
        logger.warn({ err: error }, 'following jobs failed');
      }),
    inject: [Census, Deliveries, LOGGER],
  },
];

const useCases: FactoryProvider[] = [
  {
    provide: GetMessageUsage,
    useFactory: (backlogs: Backlogs, ledger: StorageLedger, { maxStoredBytesPerAccount }: Settings) =>
      new GetMessageUsage(backlogs, ledger, maxStoredBytesPerAccount),
    inject: [Backlogs, StorageLedger, SETTINGS],
  },
  ...[SendMessage, SendBatch].map((UseCase) => ({
    provide: UseCase,
    useFactory: (messages: Messages, ids: Ids, clock: Clock, cap: StorageCap) => new UseCase(messages, ids, clock, cap),
    inject: [Messages, Ids, Clock, StorageCap],
  })),
  { provide: GetMessage, useFactory: (messages: Messages) => new GetMessage(messages), inject: [Messages] },
  { provide: RetryFailed, useFactory: (messages: Messages) => new RetryFailed(messages), inject: [Messages] },
  { provide: ListAttempts, useFactory: (messages: Messages) => new ListAttempts(messages), inject: [Messages] },
  { provide: ListMessages, useFactory: (messages: Messages) => new ListMessages(messages), inject: [Messages] },
  {
    provide: CancelMessage,
    useFactory: (messages: Messages, queue: DeliveryQueue, clock: Clock) => new CancelMessage(messages, queue, clock),
    inject: [Messages, DeliveryQueue, Clock],
  },
  {
    provide: RetryMessage,
    useFactory: (messages: Messages, clock: Clock) => new RetryMessage(messages, clock),
    inject: [Messages, Clock],
  },
];

const consuming: FactoryProvider[] = [
  {
    provide: DeliverMessage,
    useFactory: (
      deliveries: Deliveries,
      handler: MessageHandler,
      tracing: Tracing | null,
      { queueName, worker }: Settings,
      clock: Clock,
      metrics: Metrics,
    ) => {
      const traced = tracing === null ? handler : new TracedHandler(handler, tracing, queueName);
      return new DeliverMessage(deliveries, traced, worker, clock, Math.random, new DeliveryMetrics(metrics));
    },
    inject: [Deliveries, MessageHandler, TRACING, SETTINGS, Clock, Metrics],
  },
  {
    provide: Consumer,
    useFactory: (
      connection: QueueConnection,
      deliver: DeliverMessage,
      { queueName, worker }: Settings,
      logger: Logger,
    ) => new Consumer(connection, deliver, { queueName, ...worker }, logger),
    inject: [QUEUE_CONNECTION, DeliverMessage, SETTINGS, LOGGER],
  },
];

/** Begins what runs besides requests, and ends it in an order in which nothing is cut off. */
class Lifecycle implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly background: boolean,
    private readonly settings: Settings,
    private readonly messages: PostgresMessages,
    private readonly cap: StorageCap,
    private readonly relay: OutboxRelay,
    private readonly reconciler: Reconciler,
    private readonly retention: ApplyRetention,
    private readonly follower: JobFollower,
    private readonly queue: Queue,
    private readonly connection: QueueConnection,
    private readonly consumer: Consumer | null = null,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.background) return;
    this.relay.startSweeping();
    this.cap.start();
    this.reconciler.start(this.settings.reconcileIntervalMs);
    this.retention.start(RETENTION_EVERY_MS);
    this.follower.start(FOLLOW_EVERY_MS);
    await this.consumer?.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    const ended = (await this.consumer?.close(this.settings.shutdownGraceMs)) ?? true;
    await this.reconciler.close();
    await this.retention.close();
    await this.follower.close();
    await this.messages.idle();
    await this.cap.close();
    await this.relay.close();
    // BullMQ holds on to its connections while jobs run; those that outlast the grace end with the process.
    if (!ended) return;
    await this.queue.close();
    await this.connection.close();
  }
}

/** What is injected, in the order of the constructor. */
type Parts = ConstructorParameters<typeof Lifecycle> extends [boolean, ...infer Rest] ? Rest : never;

function lifecycle({ background = true, consumer = false }): FactoryProvider {
  const parts = [
    SETTINGS,
    Messages,
    StorageCap,
    OutboxRelay,
    Reconciler,
    ApplyRetention,
    JobFollower,
    QUEUE,
    QUEUE_CONNECTION,
  ];
  return {
    provide: Lifecycle,
    useFactory: (...injected: Parts) => new Lifecycle(background, ...injected),
    inject: consumer ? [...parts, Consumer] : parts,
  };
}

/** A Nest module that exports a `MessageHandler`. */
export type HandlerModule = Type | DynamicModule;

function isModule(handler: MessageHandler | HandlerModule | null): handler is HandlerModule {
  return handler !== null && !('handle' in handler);
}

@Module({})
export class MessagesModule {
  /** Takes messages in over HTTP. */
  static forApi(): DynamicModule {
    return {
      module: MessagesModule,
      controllers: [MessagesController],
      providers: [queueConnection({}), ...core, ...useCases, lifecycle({})],
      exports: useCases.map(({ provide }) => provide),
    };
  }

  /** Delivers them to a handler, or to that of a module which exports one; with neither, deliveries are only logged. */
  static forWorker(handler: MessageHandler | HandlerModule | null): DynamicModule {
    // What becomes of a message is on disk before its job ends: one that a crash of the database brings back changes nothing.
    const providers = [
      queueConnection({ asynchronousCommit: true }),
      ...core,
      ...consuming,
      lifecycle({ consumer: true }),
    ];
    const worker = { module: MessagesModule, providers };
    if (isModule(handler)) return { ...worker, imports: [handler] };
    const provider = {
      provide: MessageHandler,
      useFactory: (logger: Logger) => handler ?? new LoggingHandler(logger),
      inject: [LOGGER],
    };
    return { ...worker, providers: [...providers, provider] };
  }

  /** For commands that look at the store and run nothing in the background. */
  static forTools(): DynamicModule {
    return { module: MessagesModule, providers: [queueConnection({}), ...core, lifecycle({ background: false })] };
  }

  /** Pages that show the queue under a path, for Fastify. */
  static queuePages(context: INestApplicationContext, basePath: string) {
    return queuePages(context.get<Queue>(QUEUE, { strict: false }), basePath);
  }

  /** Whether a worker takes jobs: not while its clock is wrong. */
  static takesJobs(context: INestApplicationContext): boolean {
    return context.get<Consumer>(Consumer, { strict: false }).takesJobs;
  }

  /** How many open messages nothing will ever deliver; 0 unless something is broken. */
  static census(context: INestApplicationContext): Promise<number> {
    return context.get<Census>(Census, { strict: false }).count();
  }
}
