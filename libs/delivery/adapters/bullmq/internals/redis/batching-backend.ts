import { optsEncodeMap, raw2NextJobData, type JobsOptions, type RedisQueueBackend, type WorkerOptions } from 'bullmq';
import type { RedisClient } from '#platform/redis/connect-redis.js';
import { exchangeTogether, isOrdinary, type Exchange, type Exchanged } from '../batching.js';
import type { WorkerSettings } from '../../queue-connection.js';
import { ADD_JOBS } from './add-jobs.lua.js';
import { EXCHANGE_JOBS } from './exchange-jobs.lua.js';

type Command = (...args: (string | number)[]) => Promise<unknown>;

/** Adds jobs by one script, where BullMQ runs one for each. */
export function addTogether(backend: RedisQueueBackend, redis: RedisClient): void {
  const { wait, prioritized, pc, marker, meta } = backend.keys;
  const keys = [wait, prioritized, pc, marker, meta].map(String);
  const run = command(redis, 'sluiceAddJobs', keys.length, ADD_JOBS);
  const addJobs = backend.addJobs.bind(backend);
  backend.addJobs = async (entries) => {
    const jobs = entries.map(({ job }) => job);
    if (!jobs.every((job) => isOrdinary(job) && isStoredAsJson(job.opts))) return addJobs(entries);
    const args = jobs.flatMap(({ id, name, data, opts: { telemetry, ...opts }, timestamp }) => {
      const stored = { ...opts, ...(telemetry && { tm: telemetry.metadata }) };
      return [id, name, data, JSON.stringify(stored), timestamp, opts.priority ?? 0];
    });
    await run(...keys, backend.toKey(''), ...args);
    return jobs.map(({ id }) => id);
  };
}

/** Whether BullMQ stores options under their own names, but for the trace. */
function isStoredAsJson({ telemetry, ...opts }: JobsOptions): boolean {
  return telemetry?.omitContext === undefined && !Object.keys(opts).some((name) => name in optsEncodeMap);
}

/** Completes and takes jobs by one script, where BullMQ runs one for each. */
export function exchangeByScript(
  backend: RedisQueueBackend,
  redis: RedisClient,
  opts: Partial<WorkerOptions & WorkerSettings>,
): void {
  const { limiter, lockDuration, name, places } = opts;
  // A rate limit is checked for each job.
  if (lockDuration === undefined || name === undefined || limiter !== undefined) return;
  const { wait, active, prioritized, delayed, stalled, meta, pc, marker } = backend.keys;
  const keys = [wait, active, prioritized, delayed, stalled, meta, pc, marker].map(String);
  const run = command(redis, 'sluiceExchangeJobs', keys.length, EXCHANGE_JOBS);
  const exchange: Exchange = async (slots, lastPriority) => {
    const args = slots.flatMap(({ jobId, token, takesNext }) => [jobId ?? '', token, Number(takesNext)]);
    const replies = await run(...keys, backend.toKey(''), Date.now(), lockDuration, name, lastPriority, ...args);
    return (replies as [number, unknown[] | 0][]).map(([hasEnded, next]) => ({
      hasEnded: hasEnded === 1,
      next: next === 0 ? null : (raw2NextJobData(next) as Exchanged['next']),
    }));
  };
  exchangeTogether(backend, exchange, name, places);
}

/** Defines a command that Redis keeps as a script. */
function command(redis: RedisClient, name: string, numberOfKeys: number, lua: string): Command {
  redis.defineCommand(name, { numberOfKeys, lua });
  const commands = redis as unknown as Record<string, Command>;
  return (...args) => commands[name]?.(...args) ?? Promise.reject(new Error(`There is no command ${name}.`));
}
