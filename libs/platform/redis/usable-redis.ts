import { Redis } from 'ioredis';
import { STARTING_TIMEOUT_MS } from '../database/connection.js';
import { UsageError } from '../usage-error.js';
import type { RedisServers } from './connect-redis.js';
import { isRedisUnavailable } from './errors.js';

/** What BullMQ recommends. Valkey reports the version of Redis that it is compatible with. */
const MIN_VERSION = [6, 2] as const;

/** A process starts nevertheless: it stores messages without Redis, and uses it as soon as it is there. */
export class RedisUnreachable extends UsageError {}

/**
 * Checks that Redis accepts the credentials of its URL, its version, and whether it is a cluster.
 * @throws UsageError when it does not, RedisUnreachable when there is no response
 */
export async function requireUsableRedis({ urls, isCluster }: RedisServers): Promise<void> {
  let unreachable: unknown;
  for (const url of urls) {
    try {
      await requireUsableServer(url, isCluster);
      return;
    } catch (error) {
      if (!(error instanceof RedisUnreachable)) throw error;
      unreachable = error;
    }
  }
  throw unreachable;
}

async function requireUsableServer(url: string, isCluster: boolean): Promise<void> {
  const redis = new Redis(url, {
    ...{ lazyConnect: true, connectTimeout: STARTING_TIMEOUT_MS, commandTimeout: STARTING_TIMEOUT_MS },
    ...{ retryStrategy: () => null, maxRetriesPerRequest: 0, enableReadyCheck: false },
  });
  // The first error is the cause of those that follow it.
  const failed = new Promise<never>((_resolve, reject) => redis.on('error', reject));
  try {
    const info = await Promise.race([failed, redis.connect().then(() => redis.info())]);
    if (/^cluster_enabled:1/m.test(info) !== isCluster) {
      const [is, topology] = isCluster ? ['no', 'standalone'] : ['a', 'cluster'];
      throw new UsageError(
        `The Redis of REDIS_URL is ${is} cluster: set REDIS_TOPOLOGY to ${topology}, or change the URL.`,
      );
    }
    requireVersion(/^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown');
  } catch (error) {
    throw explained(error);
  } finally {
    failed.catch(() => undefined);
    redis.disconnect();
  }
}

function requireVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1])) return;
  throw new UsageError(
    `The Redis of REDIS_URL has version ${version}: BullMQ needs ${MIN_VERSION.join('.')} or newer.`,
  );
}

/** Without the command that failed, which may contain the password. */
function explained(error: unknown): unknown {
  if (error instanceof UsageError) return error;
  const { message, code = message } = error as NodeJS.ErrnoException;
  if (/NOAUTH|WRONGPASS|invalid password|invalid username|Client sent AUTH/i.test(message)) {
    return new UsageError('The Redis of REDIS_URL does not accept its user and password, or requires them.');
  }
  if (message.includes('NOPERM')) {
    return new UsageError(`The user of REDIS_URL lacks a permission: ${message}`);
  }
  if (!isRedisUnavailable(error)) return new UsageError(`The Redis of REDIS_URL cannot be used: ${message}`);
  return new RedisUnreachable(`The Redis of REDIS_URL cannot be reached: ${code}.`);
}
