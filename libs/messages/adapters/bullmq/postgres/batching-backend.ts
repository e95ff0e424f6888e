import { createPostgresBackend, type JobJson, type PostgresQueueBackend, type WorkerOptions } from 'bullmq';
import type pg from 'pg';
import { Batcher } from '#platform/batcher.js';
import { ADD_JOBS } from './add-jobs.sql.js';
import { EXCHANGE_JOBS } from './exchange-jobs.sql.js';

/** A job, its id, milliseconds to wait for the rate limit, and when the next delayed job is due. */
type Next = Awaited<ReturnType<PostgresQueueBackend['moveToActive']>>;

/** One of the jobs that a worker runs at the same time. */
interface Place {
  /** The job that the worker has completed; null for a new place. */
  readonly jobId: string | null;
  /** Locks that job, and the next one. */
  readonly token: string;
  readonly takesNext: boolean;
}

interface Exchanged {
  readonly hasEnded: boolean;
  /** Null when only BullMQ can decide it. */
  readonly next: Next | null;
}

/** The job's columns are null when the place has no next job. */
interface Row extends Omit<JobJson, 'id'> {
  readonly id: string | null;
  readonly plain: boolean;
  readonly hasEnded: boolean;
  readonly nextDue: number | null;
}

// One at a time: fewer, larger batches cost less than concurrent ones.
const LIMITS = { maxItems: 500, maxWaiting: Infinity };

const LEFT_TO_BULLMQ: Exchanged = { hasEnded: false, next: null };

/**
 * BullMQ's backend on PostgreSQL with one statement for many jobs, where BullMQ calls a function for each or creates
 * temporary tables. What is out of the ordinary is left to BullMQ.
 */
export function createBatchingBackend(
  ...[queue, opts, options]: Parameters<typeof createPostgresBackend>
): PostgresQueueBackend {
  const backend = createPostgresBackend(queue, opts, options);
  const pool = opts.connection as pg.Pool;
  addTogether(backend, queue, pool);
  const { limiter, lockDuration, name } = opts as WorkerOptions<pg.Pool>;
  // Only a worker has a lock duration. A rate limit is checked for each job.
  if (lockDuration !== undefined && limiter === undefined) exchangeTogether(backend, queue, pool, lockDuration, name);
  return backend;
}

/** Adds jobs by a single statement. */
function addTogether(backend: PostgresQueueBackend, queue: string, pool: pg.Pool): void {
  const addJobs = backend.addJobs.bind(backend);
  backend.addJobs = async (entries) => {
    const jobs = entries.map(({ job, jobId }) => ({ ...job, id: jobId }));
    if (!jobs.every(isOrdinary)) return addJobs(entries);
    await pool.query({
      name: 'add-jobs',
      text: ADD_JOBS,
      values: [
        queue,
        jobs.map(({ id }) => id),
        jobs.map(({ name }) => name),
        `[${jobs.map(({ data }) => data).join()}]`,
        JSON.stringify(jobs.map(({ opts }) => opts)),
        jobs.map(({ opts }) => opts.priority ?? 0),
        jobs.map(({ opts }) => opts.attempts ?? 1),
        jobs.map(({ timestamp }) => timestamp),
      ],
    });
    return jobs.map(({ id }) => id);
  };
}

/** Whether a job can start at once and depends on no other. */
function isOrdinary({ id, opts, parentKey, deduplicationId, repeatJobKey }: JobJson): boolean {
  const { delay, lifo } = opts;
  return Boolean(id) && !delay && !lifo && !parentKey && !deduplicationId && !repeatJobKey;
}

/**
 * Completes jobs and takes the next ones in batches: all places of a worker that become free while a batch runs share
 * the next one.
 */
function exchangeTogether(
  backend: PostgresQueueBackend,
  queue: string,
  pool: pg.Pool,
  lockMs: number,
  name: string | undefined,
): void {
  const exchange = async (places: Place[]): Promise<Exchanged[]> => {
    const statement = {
      name: 'exchange-jobs',
      text: EXCHANGE_JOBS,
      values: [
        queue,
        places.map(({ jobId }) => jobId),
        places.map(({ token }) => token),
        places.map(({ takesNext }) => takesNext),
        ...[Date.now(), lockMs, name],
      ],
    };
    try {
      const { rows } = await pool.query<Row>(statement);
      return rows.map((row) => {
        const { plain, hasEnded, nextDue, id } = row;
        // Not copied without the other columns: that takes longer than all else here.
        if (id !== null) return { hasEnded, next: [row as JobJson, id, 0, 0] };
        return { hasEnded, next: plain ? [null, '', 0, nextDue ?? 0] : null };
      });
    } catch (error) {
      backend.emit('error', error);
      return places.map(() => LEFT_TO_BULLMQ);
    }
  };
  const batcher = new Batcher(exchange, LIMITS);
  const moveToActive = backend.moveToActive.bind(backend);
  const moveToCompleted = backend.moveToCompleted.bind(backend);

  backend.moveToActive = async (token) => {
    const { next } = await batcher.submit({ jobId: null, token, takesNext: true });
    return next ?? moveToActive(token, name);
  };
  backend.moveToCompleted = async (job, result, removeOnComplete, token, fetchNext) => {
    if (removeOnComplete !== true) return moveToCompleted(job, result, removeOnComplete, token, fetchNext);
    const takesNext = fetchNext && !backend.closing;
    const { hasEnded, next } = await batcher.submit({ jobId: job.id ?? null, token, takesNext });
    // Also when its lock is lost: BullMQ then says why.
    if (!hasEnded) return moveToCompleted(job, result, removeOnComplete, token, fetchNext);
    return { result: takesNext ? (next ?? (await moveToActive(token, name))) : undefined, finishedOn: Date.now() };
  };
}
