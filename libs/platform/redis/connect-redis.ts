import { Redis, type RedisOptions } from 'ioredis';

export function connectRedis(url: string, options: RedisOptions): Redis {
  return endTimers(new Redis(url, options));
}

/**
 * Ends the timer for responses (`socketTimeout`) with its connection, also that of duplicates. ioredis does not: it would
 * cut off the next connection, or keep the process from ending.
 */
function endTimers(redis: Redis): Redis {
  const timers = redis as unknown as { socketTimeoutTimer: NodeJS.Timeout | undefined };
  redis.on('close', () => {
    clearTimeout(timers.socketTimeoutTimer);
    timers.socketTimeoutTimer = undefined;
  });
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (options) => endTimers(duplicate(options));
  return redis;
}
