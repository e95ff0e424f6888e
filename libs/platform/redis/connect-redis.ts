import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';

/** How to reach the Redis of REDIS_URL. */
export interface RedisServers {
  /** Of each known server. Those of a cluster tell of the others. */
  readonly urls: readonly string[];
  readonly isCluster: boolean;
}

export type RedisClient = Redis | Cluster;

export function connectRedis({ urls, isCluster }: RedisServers, options: RedisOptions): RedisClient {
  const [url = ''] = urls;
  return isCluster ? connectCluster(urls, options) : endTimers(new Redis(url, options));
}

/** Milliseconds until a command is repeated whose slot has moved, or whose master is replaced. */
const REPEAT_AFTER_MS = 200;

function connectCluster(urls: readonly string[], options: RedisOptions): Cluster {
  const [first = ''] = urls;
  const { protocol, username, password } = new URL(first);
  const secret = {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
  };
  const { enableOfflineQueue = true, ...redisOptions } = options;
  const cluster = new Cluster(
    urls.map((url) => ({ host: new URL(url).hostname, port: Number(new URL(url).port || 6_379) })),
    {
      enableOfflineQueue,
      redisOptions: { ...redisOptions, ...secret, ...(protocol === 'rediss:' && { tls: {} }) },
      clusterRetryStrategy: (times) => Math.min(100 * times, 2_000),
      retryDelayOnFailover: REPEAT_AFTER_MS,
      retryDelayOnClusterDown: REPEAT_AFTER_MS,
      retryDelayOnTryAgain: REPEAT_AFTER_MS,
      slotsRefreshTimeout: 3_000,
      // Managed clusters give names for which their certificates are.
      ...(protocol === 'rediss:' && { dnsLookup: unresolved }),
    },
  );
  return endTimersOfNodes(cluster);
}

const unresolved: ClusterOptions['dnsLookup'] = (address, callback) => {
  callback(null, address);
};

function endTimersOfNodes(cluster: Cluster): Cluster {
  cluster.on('+node', (node: Redis) => endTimers(node));
  const duplicate = cluster.duplicate.bind(cluster);
  cluster.duplicate = (...args) => endTimersOfNodes(duplicate(...args));
  return cluster;
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
