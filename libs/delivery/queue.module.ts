import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import { JobDispatch } from '#messages/index.js';
import { ClockWatch } from '#platform/database/clock-watch.js';
import { Database } from '#platform/database/database.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER } from '#platform/process/platform.module.js';
import { provide, provideAs, provideSetting } from '#platform/process/provide.js';
import type { PlatformSettings } from '#platform/process/settings.js';
import { postgresQueue } from './adapters/bullmq/postgres/postgres-queue.js';
import { QueueConnection } from './adapters/bullmq/queue-connection.js';
import { openQueuePages } from './adapters/bullmq/queue-pages.js';
import { redisQueue } from './adapters/bullmq/redis/redis-queue.js';
import { clockWatchOptions } from './adapters/bullmq/shard-consumer.js';
import { addQueueGauges } from './adapters/monitoring/queue-metrics.js';
import { RelayMonitor } from './adapters/monitoring/relay-monitor.js';
import { ForgetJobs, ForgetTraces } from './adapters/postgres/forget-jobs.js';
import { outboxBacklog } from './adapters/postgres/outbox-backlog.js';
import { PostgresCurrentQueue } from './adapters/postgres/postgres-current-queue.js';
import { PostgresStrayMessages } from './adapters/postgres/postgres-stray-messages.js';
import { PostgresOutbox } from './adapters/postgres/postgres-outbox.js';
import { CurrentQueue } from './application/current-queue.js';
import { JobQueue } from './application/job-queue.js';
import { OutboxRelay } from './application/outbox-relay.js';
import { Outbox } from './application/outbox.js';
import { StrayMessages } from './application/stray-messages.js';
import type { DeliverySettings } from './settings.js';

/** What processes look up. */
export { ClockWatch, CurrentQueue, ForgetJobs, ForgetTraces, JobQueue, openQueuePages, OutboxRelay };
export { QueueConnection, StrayMessages };

const CLOCK_WATCH = Symbol('settings of the clock watch');

/** What depends on where the jobs are. */
function queue(redis: PlatformSettings['redis'], { asynchronousCommit = false, mustReach = false } = {}): Provider[] {
  return [
    provideAs(CurrentQueue, PostgresCurrentQueue, [Database]),
    provideAs(StrayMessages, PostgresStrayMessages, [Database, JobQueue]),
    ...(redis === null ? postgresQueue(asynchronousCommit) : redisQueue(redis, mustReach)),
  ];
}

const relaying: Provider[] = [
  provideSetting(CLOCK_WATCH, ({ worker }: DeliverySettings) => clockWatchOptions(worker)),
  provide(ClockWatch, [Database, CLOCK_WATCH, Metrics, LOGGER, Activity]),
  provide(RelayMonitor, [Metrics, LOGGER]),
  provideAs(Outbox, PostgresOutbox, [Database]),
  provide(OutboxRelay, [Outbox, JobQueue, RelayMonitor]),
  { provide: JobDispatch, useExisting: OutboxRelay },
  provide(ForgetJobs, [Database, JobQueue]),
  provide(ForgetTraces, [Database, JobQueue]),
  {
    provide: 'metrics of the queue',
    useFactory: (metrics: Metrics, queue: JobQueue, current: CurrentQueue) => {
      addQueueGauges(metrics, outboxBacklog, (database) => queue.depth(database), current);
    },
    inject: [Metrics, JobQueue, CurrentQueue],
  },
];

/** The way from the store to the queue. */
@Module({})
export class QueueModule {
  static forApi({ redis }: PlatformSettings): DynamicModule {
    return QueueModule.of(queue(redis));
  }

  static forWorker({ redis }: PlatformSettings): DynamicModule {
    // A job that a crash of the database restores is skipped: the result of its delivery was already on disk.
    return QueueModule.of(queue(redis, { asynchronousCommit: true }));
  }

  /** For commands that query the store and run nothing in the background. */
  static forTools({ redis }: PlatformSettings): DynamicModule {
    return { module: QueueModule, providers: queue(redis, { mustReach: true }) };
  }

  private static of(queue: Provider[]): DynamicModule {
    return {
      module: QueueModule,
      providers: [...queue, ...relaying],
      exports: [ClockWatch, CurrentQueue, JobDispatch, JobQueue, OutboxRelay, QueueConnection, StrayMessages],
    };
  }
}
