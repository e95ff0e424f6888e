import type { Provider } from '@nestjs/common';
import { QueueKeys } from 'bullmq';
import { Activity } from '#kernel/activity.js';
import type { MessagesSettings } from '#messages/index.js';
import { Database } from '#platform/database/database.js';
import type { Logger } from '#platform/observability/logging.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER, SETTINGS } from '#platform/process/platform.module.js';
import type { RedisServers } from '#platform/redis/connect-redis.js';
import { RedisUnreachable, requireUsableRedis } from '#platform/redis/usable-redis.js';
import type { DeliverySettings } from '../../../settings.js';
import { CurrentQueue } from '../../../application/current-queue.js';
import { JobQueue } from '../../../application/job-queue.js';
import { addRedisGauges } from './redis-metrics.js';
import { logLostQueue, QueueConnection, requireQueueName } from '../queue-connection.js';
import { RedisJobQueue } from './redis-job-queue.js';
import { queueNames, RedisQueueConnection } from './redis-queue-connection.js';

/**
 * The queue on Redis, for processes and for tools.
 * @param mustReach whether a Redis that is away is an error; otherwise messages wait for it
 */
export function redisQueue(redis: RedisServers & { readonly shards: number }, mustReach: boolean): Provider[] {
  return [
    {
      provide: RedisQueueConnection,
      useFactory: async ({ queueName }: DeliverySettings, logger: Logger, database: Database) => {
        await requireQueueName(database, queueName);
        const prefixes = queueNames({ ...redis, queueName }).map((name) => new QueueKeys().toKey(name, ''));
        await requireUsableRedis(redis, prefixes).catch((error: unknown) => {
          if (mustReach || !(error instanceof RedisUnreachable)) throw error;
          logger.error(`${error.message} Messages wait in the outbox until it is reachable.`);
        });
        const onEviction = (policy: string) => {
          logger.error(
            { policy },
            'Redis deletes jobs when its memory is used up: set its maxmemory-policy to noeviction',
          );
        };
        const connection = new RedisQueueConnection({ ...redis, queueName, onError: logLostQueue(logger), onEviction });
        await connection.opened();
        return connection;
      },
      inject: [SETTINGS, LOGGER, Database],
    },
    { provide: QueueConnection, useExisting: RedisQueueConnection },
    {
      provide: JobQueue,
      useFactory: (
        database: Database,
        connection: RedisQueueConnection,
        { retries, worker }: MessagesSettings & DeliverySettings,
        currentQueue: CurrentQueue,
        activity: Activity,
      ) => new RedisJobQueue(database, connection, retries, worker.lockMs, currentQueue, activity),
      inject: [Database, RedisQueueConnection, SETTINGS, CurrentQueue, Activity],
    },
    { provide: 'metrics of Redis', useFactory: addRedisGauges, inject: [Metrics, RedisQueueConnection] },
  ];
}
