import type { Metrics } from '#platform/observability/metrics.js';
import type { RedisQueueConnection } from './redis-queue-connection.js';

/** What a process knows of its Redis. */
export function addRedisGauges(metrics: Metrics, redis: RedisQueueConnection): void {
  metrics.gauge('sluice_redis_up', 'Whether this process has a connection to Redis, which accepts its commands', () =>
    Number(redis.isUp),
  );
  metrics.gauge('sluice_redis_nearly_full', 'Whether Redis has used so much memory that no jobs are added', () =>
    Number(redis.memory.isNearlyFull),
  );
  metrics.gauge('sluice_redis_evicts', 'Whether Redis deletes jobs when its memory is used up', () =>
    Number(redis.memory.evicts),
  );
}
