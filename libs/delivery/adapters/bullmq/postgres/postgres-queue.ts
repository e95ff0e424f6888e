import type { Provider } from '@nestjs/common';
import { Database } from '#platform/database/database.js';
import type { Logger } from '#platform/observability/logging.js';
import { LOGGER, SETTINGS } from '#platform/process/platform.module.js';
import { provideAs } from '#platform/process/provide.js';
import type { DeliverySettings } from '../../../settings.js';
import { JobEvents } from '../../../application/job-events.js';
import { QueueContents } from '../../../application/queue-contents.js';
import { QueueMaintenance } from '../../../application/queue-maintenance.js';
import { logLostQueue, QueueConnection, requireQueueName } from '../queue-connection.js';
import { PostgresJobEvents } from './postgres-job-events.js';
import { PostgresQueueConnection } from './postgres-queue-connection.js';
import { PostgresQueueContents } from './postgres-queue-contents.js';
import { PostgresQueueMaintenance } from './postgres-queue-maintenance.js';
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
      ) => {
        await requireQueueName(database, queueName);
        const onError = logLostQueue(logger);
        return new PostgresQueueConnection({ url, poolSize, queueName, asynchronousCommit, onError });
      },
      inject: [SETTINGS, LOGGER, Database],
    },
    { provide: QueueConnection, useExisting: PostgresQueueConnection },
    provideAs(QueueContents, PostgresQueueContents, []),
    provideAs(JobEvents, PostgresJobEvents, [Database, PostgresQueueConnection]),
    {
      provide: QueueMaintenance,
      useFactory: (database: Database, queue: PostgresQueueConnection, { worker }: DeliverySettings) =>
        new PostgresQueueMaintenance(database, queue, worker),
      inject: [Database, PostgresQueueConnection, SETTINGS],
    },
  ];
}
