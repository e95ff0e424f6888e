import type { Environment } from '../process/environment.js';
import { matching } from '../process/formats.js';
import { UsageError } from '../process/usage-error.js';

const REDIS_URL = matching(
  'a URL like redis://user:password@host:6379/0, or several of sentinels or servers of a cluster, separated by commas',
  (text) => {
    const urls = text.split(',');
    return urls.every((one) => /^rediss?:\/\/[^/]*(\/\d*)?$/.test(one) && URL.canParse(one));
  },
  true,
);

/** @returns null when PostgreSQL carries the queue as well */
export function readRedis(env: Environment) {
  const url = env.read('REDIS_URL', null, REDIS_URL);
  const topology = env.oneOf('REDIS_TOPOLOGY', 'standalone', ['standalone', 'sentinel', 'cluster']);
  const sentinel = {
    master: env.optional('REDIS_SENTINEL_MASTER') ?? 'mymaster',
    password: env.optional('REDIS_SENTINEL_PASSWORD') ?? null,
  };
  const shards = env.integer('QUEUE_SHARDS', 1, 1, 64);
  if (url === null) return null;
  const urls = url.split(',');
  if (topology === 'standalone' && urls.length > 1)
    throw new UsageError('Several URLs in REDIS_URL need REDIS_TOPOLOGY=sentinel or REDIS_TOPOLOGY=cluster.');
  return { urls, topology, sentinel, shards };
}
