import { once } from 'node:events';
import { crc32 } from 'node:zlib';
import type { RedisOptions } from 'ioredis';
import { asUnavailable } from '#platform/database/errors.js';
import {
  CONNECT_TIMEOUT_MS,
  connectRedis,
  type RedisClient,
  type RedisServers,
} from '#platform/redis/connect-redis.js';
import { isRedisUnavailable, whyUnavailable } from '#platform/redis/errors.js';
import { QueueConnection } from '../queue-connection.js';
import { RedisShard } from '../internals/redis/redis-shard.js';

/** Nothing waits for a Redis that is away: what cannot be added stays in the outbox. */
const PRODUCER: RedisOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: 5_000,
  connectionName: 'sluice-queue',
};

/** Commands wait for Redis to come back. BullMQ blocks a connection for 10 s at most. */
const WORKER: RedisOptions = {
  maxRetriesPerRequest: null,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: 15_000,
  connectionName: 'sluice-worker',
};

interface RedisQueueOptions extends RedisServers {
  readonly shards: number;
  readonly queueName: string;
  readonly onError: (error: Error) => void;
  /** Redis would delete jobs when its memory is used up. */
  readonly onEviction: (policy: string) => void;
}

/** BullMQ on a Redis. */
export class RedisQueueConnection extends QueueConnection<RedisShard> {
  readonly shards: readonly RedisShard[];
  private readonly redis: RedisClient;
  private workers: RedisClient | undefined;

  constructor(private readonly options: RedisQueueOptions) {
    super();
    const { onError, onEviction } = options;
    this.redis = connectRedis(options, PRODUCER);
    this.redis.on('error', onError);
    const openWorker = () => (this.workers ??= this.openWorkers());
    this.shards = queueNames(options).map((name) => new RedisShard(name, this.redis, openWorker, onEviction));
  }

  /** The name of the queue, of which each shard is a part. */
  get queueName(): string {
    return this.options.queueName;
  }

  get isUp(): boolean {
    return this.redis.status === 'ready' && this.shards.every(({ server }) => server.isUsable);
  }

  get memory() {
    const watches = this.shards.map(({ server }) => server);
    return {
      isNearlyFull: watches.some(({ isNearlyFull }) => isNearlyFull),
      evicts: watches.some(({ eviction }) => eviction !== null),
    };
  }

  // Of the whole id: its beginning is a time, which many messages have in common.
  shardOf(id: string): RedisShard {
    const [messageId = ''] = id.split('.');
    const shard = this.shards[crc32(messageId) % this.shards.length];
    if (shard === undefined) throw new Error('The queue has no shards.');
    return shard;
  }

  /** The ids of messages or jobs by their queues. */
  byShard(ids: readonly string[]): Map<RedisShard, string[]> {
    const all = new Map<RedisShard, string[]>();
    for (const id of ids) {
      const shard = this.shardOf(id);
      const ofShard = all.get(shard);
      if (ofShard === undefined) all.set(shard, [id]);
      else ofShard.push(id);
    }
    return all;
  }

  /** Resolves when the first attempt to connect has succeeded or failed. */
  async opened(): Promise<void> {
    await Promise.race(['ready', 'error', 'close'].map((event) => once(this.redis, event))).catch(() => undefined);
    await Promise.all(
      this.shards.map(async ({ server }) => {
        await server.check();
        server.start();
      }),
    );
  }

  async depth() {
    const depths = await Promise.all(this.shards.map((shard) => shard.depth()));
    const jobs: Record<string, number> = {};
    for (const depth of depths) {
      for (const [state, count] of Object.entries(depth.jobs)) jobs[state] = (jobs[state] ?? 0) + count;
    }
    return { jobs, oldest: Math.max(...depths.map(({ oldest }) => oldest)) };
  }

  asUnavailable(error: unknown): unknown {
    return asUnavailable(error, isRedisUnavailable, whyUnavailable(error));
  }

  async close(): Promise<void> {
    for (const { server } of this.shards) await server.close();
    if (this.isAbandoned) return;
    for (const { queue } of this.shards) await queue.close();
    this.redis.disconnect();
    this.workers?.disconnect();
  }

  private openWorkers(): RedisClient {
    // What the jobs of one moment need is sent, and answered, together; so they reach PostgreSQL together as well. In a
    // cluster, a pipeline is not repeated when some of its keys have moved.
    const redis = connectRedis(this.options, { ...WORKER, enableAutoPipelining: this.options.topology !== 'cluster' });
    // The workers repeat its errors.
    redis.on('error', () => undefined);
    return redis;
  }
}

/** The braces put all keys of a queue on one server of a cluster. */
export function queueNames({
  queueName,
  shards,
  topology,
}: Pick<RedisQueueOptions, 'queueName' | 'shards' | 'topology'>): string[] {
  if (shards === 1) return [topology === 'cluster' ? `{${queueName}}` : queueName];
  return Array.from({ length: shards }, (_, index) => `{${queueName}-${index}}`);
}
