import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { makesUseless } from './errors.js';
import { credentialsOf, optionsOf, parseRedisUrl } from './redis-url.js';

/** How to reach the Redis server at REDIS_URL. */
export interface RedisServers {
  /** The URL of each known server or sentinel. The servers of a cluster report the others. */
  readonly urls: readonly string[];
  readonly topology: 'standalone' | 'sentinel' | 'cluster';
  /** How to ask sentinels for the master. Their URLs contain the credentials of the master. */
  readonly sentinel: { readonly master: string; readonly password: string | null };
}

export type RedisClient = Redis | Cluster;

/** How long connecting may take, with TLS. */
export const CONNECT_TIMEOUT_MS = 3_000;

interface ReplyError extends Error {
  readonly command?: { readonly name: string };
}

/** A connection is replaced once in this time at most: the same server may be found again. */
const REPLACE_EVERY_MS = 1_000;

type Authenticate = (this: Redis, credentials: never, callback: (error: Error | null) => void) => Promise<unknown>;
const authentication = Redis.prototype as unknown as { auth: Authenticate };
const authenticate = authentication.auth;

/**
 * ioredis prints what it thinks of some answers to AUTH on the console, for each of its connections, also of those that
 * it opens itself to sentinels and in a cluster. A password that is not needed is no failure.
 */
authentication.auth = function (credentials, callback) {
  return authenticate.call(this, credentials, (error) => {
    const { message = '' } = error ?? {};
    if (/no password is set|without any password configured for the default user/.test(message)) callback(null);
    else if (message.includes("wrong number of arguments for 'auth'")) callback(new Error(USER_NOT_SUPPORTED));
    else callback(error);
  });
};

/** The error when the URL has a user and the server is older than Redis 6. */
export const USER_NOT_SUPPORTED = 'The server does not know AUTH with a user.';

export function connectRedis(servers: RedisServers, options: RedisOptions): RedisClient {
  const { urls, topology } = servers;
  const [url = ''] = urls;
  if (topology === 'cluster') return connectCluster(urls, options);
  return prepared(
    topology === 'sentinel'
      ? connectMaster(servers, options)
      : new Redis({ ...options, ...optionsOf(parseRedisUrl(url)) }),
  );
}

/** Asks the sentinels again for each connection. */
function connectMaster({ urls, sentinel: { master, password } }: RedisServers, options: RedisOptions): Redis {
  const [first = ''] = urls;
  const address = parseRedisUrl(first);
  const { tls, ...credentials } = credentialsOf(address);
  return new Redis({
    ...options,
    ...credentials,
    db: address.db,
    name: master,
    sentinels: urls.map((url) => addressOf(url, 26_379)),
    ...(password !== null && { sentinelPassword: password }),
    sentinelCommandTimeout: 3_000,
    sentinelRetryStrategy: waitMs,
    ...(tls !== undefined && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
  });
}

/** The wait in milliseconds before all servers are tried again. */
function waitMs(times: number): number {
  return Math.min(100 * times, 2_000);
}

function addressOf(url: string, defaultPort: number) {
  const { host, port = defaultPort } = parseRedisUrl(url);
  return { host, port };
}

/** Milliseconds until a command is repeated after its slot has moved or its master was replaced. */
const REPEAT_AFTER_MS = 200;

function connectCluster(urls: readonly string[], options: RedisOptions): Cluster {
  const [first = ''] = urls;
  const credentials = credentialsOf(parseRedisUrl(first));
  const isEncrypted = credentials.tls !== undefined;
  const { enableOfflineQueue = true, ...redisOptions } = options;
  const cluster = new Cluster(
    urls.map((url) => addressOf(url, 6_379)),
    {
      enableOfflineQueue,
      // The same user and password are used for all servers.
      redisOptions: { ...redisOptions, ...credentials },
      clusterRetryStrategy: waitMs,
      retryDelayOnFailover: REPEAT_AFTER_MS,
      retryDelayOnClusterDown: REPEAT_AFTER_MS,
      retryDelayOnTryAgain: REPEAT_AFTER_MS,
      slotsRefreshTimeout: 3_000,
      // The certificates of managed clusters are for host names, so names are not resolved.
      ...(isEncrypted && { dnsLookup: unresolved }),
    },
  );
  return endTimersOfNodes(cluster);
}

const unresolved: ClusterOptions['dnsLookup'] = (address, callback) => {
  callback(null, address);
};

function endTimersOfNodes(cluster: Cluster): Cluster {
  cluster.on('+node', endTimers);
  const duplicate = cluster.duplicate.bind(cluster);
  cluster.duplicate = (...args) => endTimersOfNodes(duplicate(...args));
  return cluster;
}

/** Of one server or a master, with its duplicates. */
function prepared(redis: Redis): Redis {
  endTimers(redis);
  replaceUseless(redis);
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (options) => prepared(duplicate(options));
  return redis;
}

/**
 * Stops the timer for responses (`socketTimeout`) when its connection ends. ioredis leaves it running: it would close the
 * next connection, or keep the process from ending.
 */
function endTimers(redis: Redis): void {
  const timers = redis as unknown as { socketTimeoutTimer: NodeJS.Timeout | undefined };
  redis.on('close', () => {
    clearTimeout(timers.socketTimeoutTimer);
    timers.socketTimeoutTimer = undefined;
  });
}

/**
 * Connects again when the server no longer serves. Those of a cluster redirect instead. ioredis would use the database 0
 * when the server refuses to select another.
 */
function replaceUseless(redis: Redis): void {
  let replacedAt = -Infinity;
  redis.options.reconnectOnError = (error: ReplyError) => {
    if (error.command?.name === 'select') return true;
    const now = performance.now();
    if (!makesUseless(error) || now - replacedAt < REPLACE_EVERY_MS) return false;
    replacedAt = now;
    return true;
  };
}
