import type { Provider } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import type { MessagesSettings } from '#messages/index.js';
import { Database } from '#platform/database/database.js';
import type { Logger } from '#platform/observability/logging.js';
import { LOGGER, SETTINGS } from '#platform/process/platform.module.js';
import type { DeliverySettings } from '../../../settings.js';
import { CurrentQueue } from '../../../application/current-queue.js';
import { JobQueue } from '../../../application/job-queue.js';
import { logLostQueue, QueueConnection, requireQueueName } from '../queue-connection.js';
import { PostgresJobQueue } from './postgres-job-queue.js';
import { PostgresQueueConnection } from './postgres-queue-connection.js';
import type { PlatformSettings } from '#platform/process/settings.js';

/** The queue in the database of the messages, for processes and for tools. */
export function postgresQueue(asynchronousCommit: boolean): Provider[] {
  return [
    {
      provide: PostgresQueueConnection,
      useFactory: async (
        { database: { url, poolSize }, queueName }: DeliverySettings & PlatformSettings,
        logger: Logger,
        database: Database,
        activity: Activity,
      ) => {
        await requireQueueName(database, queueName);
        const onError = logLostQueue(logger);
        return new PostgresQueueConnection({ url, poolSize, queueName, asynchronousCommit, onError, activity });
      },
      inject: [SETTINGS, LOGGER, Database, Activity],
    },
    { provide: QueueConnection, useExisting: PostgresQueueConnection },
    {
      provide: JobQueue,
      useFactory: (
        connection: PostgresQueueConnection,
        { retries, worker }: MessagesSettings & DeliverySettings,
        currentQueue: CurrentQueue,
        activity: Activity,
      ) => new PostgresJobQueue(connection, retries, worker.lockMs, currentQueue, activity),
      inject: [PostgresQueueConnection, SETTINGS, CurrentQueue, Activity],
    },
  ];
}
