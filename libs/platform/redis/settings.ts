import type { Environment, Format } from '../process/environment.js';
import { UsageError } from '../process/usage-error.js';
import { parseRedisUrl, REDIS_URL_FORM } from './redis-url.js';

const REDIS_URL: Format<string[]> = {
  expected: REDIS_URL_FORM,
  parse: (text) => {
    const urls = text.split(',');
    urls.forEach(parseRedisUrl);
    return urls;
  },
  secret: true,
};

/** @returns null when PostgreSQL carries the queue as well */
export function readRedis(env: Environment) {
  const urls = env.read('REDIS_URL', null, REDIS_URL);
  const topology = env.oneOf('REDIS_TOPOLOGY', 'standalone', ['standalone', 'sentinel', 'cluster']);
  const sentinel = {
    master: env.optional('REDIS_SENTINEL_MASTER') ?? 'mymaster',
    password: env.optional('REDIS_SENTINEL_PASSWORD') ?? null,
  };
  const shards = env.integer('QUEUE_SHARDS', 1, 1, 64);
  if (urls === null) return null;
  if (topology === 'standalone' && urls.length > 1)
    throw new UsageError('Several URLs in REDIS_URL need REDIS_TOPOLOGY=sentinel or REDIS_TOPOLOGY=cluster.');
  return { urls, topology, sentinel, shards };
}
