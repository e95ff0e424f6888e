import {
  createRedisBackend,
  Queue,
  withBackend,
  type RedisQueueBackend,
  type Worker,
  type WorkerOptions,
} from 'bullmq';
import type { ChainableCommander } from 'ioredis';
import { isRedisUnavailable } from '#platform/redis/errors.js';
import type { RedisClient } from '#platform/redis/connect-redis.js';
import { requireAccepted } from '#platform/redis/usable-redis.js';
import { FIRST_TURN, NO_TURN, type FairScheduler } from '../../../../application/fair-scheduler.js';
import { WORKER_NAME } from '../../delivery-job.js';
import {
  rethrowAsRefused,
  type Processor,
  type QueueShard,
  type QueueView,
  type WorkerSettings,
} from '../../queue-connection.js';
import { addTogether, exchangeByScript } from './batching-backend.js';
import { AHEAD, HAS_EXPRESS, HELD_PLACES } from './turns.lua.js';
import { ServerWatch } from '../../redis/server-watch.js';

/** The score of a prioritized job is its priority times this, plus a counter. */
const PRIORITY = 2 ** 32;

const JOBS_AT_ONCE = 1_000;
/** Ends when the process that holds it has died. */
const TURNS_LOCK_MS = 5_000;

/** Asks the server that has a key. */
const INFO = `return redis.call('INFO', ARGV[1])`;

/** The account in the data of a job; empty if it has none, null if it can't be read. */
function accountIn(data: string | null): string | null {
  try {
    const { accountId = '' } = JSON.parse(data ?? 'null') as { readonly accountId?: string };
    return accountId;
  } catch {
    return null;
  }
}

const { Worker: PatientWorker } = withBackend<RedisQueueBackend, RedisClient>(createPatientBackend);

/** One queue on Redis. All of its keys are on one server. `RedisQueueConnection.shardOf` decides which messages it has. */
export class RedisShard implements QueueShard {
  readonly queue: Queue;
  readonly server: ServerWatch;

  /**
   * @param openWorker opens a connection for workers
   * @param onEviction called when Redis would delete jobs
   */
  constructor(
    name: string,
    readonly redis: RedisClient,
    private readonly openWorker: () => RedisClient,
    onEviction: (policy: string) => void,
  ) {
    // Without these, each call would wait for the first connection. `requireUsableRedis` checks the version.
    const atOnce = { skipWaitingForReady: true, skipVersionCheck: true };
    this.queue = new Queue(name, { connection: redis, ...atOnce });
    // It repeats the errors of the connection.
    this.queue.on('error', () => undefined);
    this.server = new ServerWatch(
      () => this.info('memory'),
      () => requireAccepted(redis, this.key('')),
      onEviction,
    );
    publishApart(this.queue.getBackend());
    addTogether(this.queue.getBackend(), redis);
    this.keepMemory();
  }

  createWorker(process: Processor, settings: WorkerSettings): Worker {
    const { name } = this.queue;
    const worker = new PatientWorker(name, process, { ...settings, connection: this.openWorker() });
    return worker as unknown as Worker;
  }

  async view(heldMs: number): Promise<QueueView> {
    const [express, turn, held] = await this.ask<[boolean, string[], string[]]>((pipeline) =>
      pipeline
        .eval(HAS_EXPRESS, 2, this.key('wait'), this.key('prioritized'), FIRST_TURN * PRIORITY)
        .zrangebyscore(this.key('prioritized'), FIRST_TURN * PRIORITY, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
        .eval(HELD_PLACES, 1, this.key('active'), this.key(''), Date.now() - heldMs),
    );
    const priority = turn[1] === undefined ? NO_TURN : Math.floor(Number(turn[1]) / PRIORITY);
    const places = new Map<string, number>();
    for (const accountId of held) places.set(accountId, (places.get(accountId) ?? 0) + 1);
    return { express: Number(express) > 0, turn: priority === NO_TURN ? null : priority, held: places };
  }

  async hasExpress(): Promise<boolean> {
    const keys = [this.key('wait'), this.key('prioritized')] as const;
    return Number(await this.redis.eval(HAS_EXPRESS, 2, ...keys, FIRST_TURN * PRIORITY)) > 0;
  }

  async firstWaitingJob(): Promise<string | null> {
    const [paused, waiting, prioritized] = await this.ask<[number, string | null, string[]]>((pipeline) =>
      pipeline.hexists(this.key('meta'), 'paused').lindex(this.key('wait'), -1).zrange(this.key('prioritized'), 0, 0),
    );
    return paused === 1 ? null : (waiting ?? prioritized[0] ?? null);
  }

  async giveTurns(scheduler: FairScheduler, refresh: () => Promise<void>): Promise<void> {
    const due = [this.key('prioritized'), NO_TURN * PRIORITY, '+inf'] as const;
    // Mostly none is due. One process at a time: with two, each would count the turns of both.
    if ((await this.redis.zcount(...due)) === 0) return;
    await refresh();
    await this.alone(async () => {
      const ids = await this.redis.zrangebyscore(...due, 'LIMIT', 0, JOBS_AT_ONCE);
      const accounts = (await this.fields(ids, 'data')).map(([data = null]) => accountIn(data));
      // Redis may have evicted a job but not its id, which would be found for ever, or nobody can read it.
      const gone = ids.filter((_id, index) => accounts[index] === null);
      if (gone.length > 0) await this.redis.zrem(this.key('prioritized'), ...gone);
      const some = ids.filter((_id, index) => accounts[index] !== null);
      await this.reassign(
        some,
        accounts.filter((one) => one !== null),
        scheduler,
      );
    });
  }

  async moveBehind(accountIds: readonly string[], scheduler: FairScheduler): Promise<void> {
    await this.alone(async () => {
      const keys = [this.key('wait'), this.key('prioritized'), this.key('')] as const;
      const found = (await this.redis.eval(
        AHEAD,
        2,
        ...keys,
        FIRST_TURN * PRIORITY,
        JOBS_AT_ONCE,
        ...accountIds,
      )) as string[];
      const ids = found.filter((_value, index) => index % 2 === 0);
      const accounts = found.filter((_value, index) => index % 2 === 1);
      await this.reassign(ids, accounts, scheduler);
    });
  }

  async depth() {
    const [wait, paused, prioritized, active, delayed, failed, completed, next, first] = await this.ask<
      [number, number, number, number, number, number, number, string | null, string[]]
    >((pipeline) =>
      pipeline
        .llen(this.key('wait'))
        .llen(this.key('paused'))
        .zcard(this.key('prioritized'))
        .llen(this.key('active'))
        .zcard(this.key('delayed'))
        .zcard(this.key('failed'))
        .zcard(this.key('completed'))
        .lindex(this.key('wait'), -1)
        .zrange(this.key('prioritized'), 0, 0),
    );
    const jobs = { waiting: wait + paused + prioritized, active, delayed, failed, completed };
    const id = next ?? first[0];
    // A job that was tried before has waited only since then.
    const since = id === undefined ? [] : await this.redis.hmget(this.key(id), 'timestamp', 'processedOn');
    const oldest = Math.max(0, Date.now() - Math.max(...since.map(Number))) / 1_000;
    return { jobs, oldest: Number.isFinite(oldest) ? oldest : 0 };
  }

  /** A key of the queue. */
  key(name: string): string {
    return this.queue.toKey(name);
  }

  /** Some fields of each of these jobs, in their order; null for what a job does not have. */
  async fields(ids: readonly string[], ...names: readonly string[]): Promise<(string | null)[][]> {
    const jobs = await this.read<(string | null)[]>((pipeline) =>
      ids.reduce((all, id) => all.hmget(this.key(id), ...names), pipeline),
    );
    return jobs.map((fields) => fields ?? names.map(() => null));
  }

  /** A part of the report of its server. */
  async info(section: string): Promise<string> {
    return String(await this.redis.eval(INFO, 1, this.key('meta'), section));
  }

  /** Sends commands together, and resolves to their results. */
  async ask<Results extends unknown[]>(build: (pipeline: ChainableCommander) => ChainableCommander): Promise<Results> {
    const replies = (await build(this.redis.pipeline()).exec()) ?? [];
    return replies.map(([error, result]) => {
      if (error !== null) throw error;
      return result;
    }) as Results;
  }

  /** Like `ask`, with null for what can't be read because its key has a wrong type. */
  async read<Result>(build: (pipeline: ChainableCommander) => ChainableCommander): Promise<(Result | null)[]> {
    const replies = (await build(this.redis.pipeline()).exec()) ?? [];
    return replies.map(([error, result]) => {
      if (error === null) return result as Result | null;
      if (error.message.startsWith('WRONGTYPE')) return null;
      throw error;
    });
  }

  /** Runs a task, unless another process has one in progress. */
  private async alone(task: () => Promise<void>): Promise<void> {
    const lock = this.key('sluice-turns');
    if ((await this.redis.set(lock, '1', 'PX', TURNS_LOCK_MS, 'NX')) === null) return;
    try {
      await task();
    } finally {
      await this.redis.del(lock).catch(() => undefined);
    }
  }

  private async reassign(
    ids: readonly string[],
    accountIds: readonly string[],
    scheduler: FairScheduler,
  ): Promise<void> {
    const { turns, added } = scheduler.assign(accountIds);
    const backend = this.queue.getBackend();
    // Sent together. A job that is gone by then needs no turn.
    const given = await Promise.allSettled(ids.map((id, index) => backend.changePriority(id, turns[index])));
    const failed = given.find((result) => result.status === 'rejected' && isRedisUnavailable(result.reason));
    if (failed?.status === 'rejected') throw failed.reason;
    added();
  }

  /** Leaves memory to the workers of this queue. */
  private keepMemory(): void {
    const backend = this.queue.getBackend();
    const addJobs = backend.addJobs.bind(backend);
    backend.addJobs = async (jobs) => {
      if (this.server.isNearlyFull) throw new Error('OOM Redis has used nine tenths of its memory');
      return addJobs(jobs);
    };
  }
}

/**
 * Publishes the events of Sluice's own processes in a separate stream, so that the followers, which read all of
 * BullMQ's stream several times, find only events of other programs in it.
 */
function publishApart(backend: Pick<RedisQueueBackend, 'keys' | 'toKey'>): void {
  const events = backend.toKey('sluice-events');
  // BullMQ has copied the keys for its most frequent command.
  const { moveToFinishedKeys: copied } = backend as unknown as { moveToFinishedKeys: (string | undefined)[] };
  copied[copied.indexOf(backend.keys.events)] = events;
  backend.keys.events = events;
}

const rethrow = rethrowAsRefused('Redis', isRedisUnavailable);

/** For workers of a Redis that is full, starting or read-only. */
function createPatientBackend(...args: Parameters<typeof createRedisBackend>): RedisQueueBackend {
  const backend = createRedisBackend(...args);
  const opts = args[1] as WorkerOptions;
  if (opts.name === WORKER_NAME) {
    publishApart(backend);
    exchangeByScript(backend, opts.connection as RedisClient, opts);
  }
  const moveToActive = backend.moveToActive.bind(backend);
  const moveToCompleted = backend.moveToCompleted.bind(backend);
  const moveToFailed = backend.moveToFailed.bind(backend);
  backend.moveToActive = (...call) => moveToActive(...call).catch(rethrow);
  backend.moveToCompleted = (...call) => moveToCompleted(...call).catch(rethrow);
  backend.moveToFailed = (...call) => moveToFailed(...call).catch(rethrow);
  return backend;
}
