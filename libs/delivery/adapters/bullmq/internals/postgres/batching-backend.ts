import { createPostgresBackend, type JobJson, type PostgresQueueBackend, type WorkerOptions } from 'bullmq';
import type pg from 'pg';
import type { Activity } from '#kernel/activity.js';
import { exchangeTogether, isOrdinary, type Exchange } from '../batching.js';
import type { WorkerSettings } from '../../queue-connection.js';
import { ADD_JOBS } from './add-jobs.sql.js';
import { EXCHANGE_JOBS } from './exchange-jobs.sql.js';

/** How often running jobs are looked for while the installation is quiet and there were none. */
const QUIET_CHECK_EVERY_MS = 30_000;

const IS_ANY_RUNNING = `SELECT FROM bullmq.job WHERE queue = $1 AND state = 'active' LIMIT 1`;

/** The job's columns are null when the slot has no next job. */
interface Row extends Omit<JobJson, 'id'> {
  readonly id: string | null;
  readonly plain: boolean;
  readonly hasEnded: boolean;
  readonly nextDue: number | null;
}

/**
 * BullMQ's backend on PostgreSQL with one statement for many jobs, where BullMQ calls a function for each or creates
 * temporary tables. What is out of the ordinary is left to BullMQ.
 * @param activity of the installation
 */
export function createBatchingBackend(activity: Pick<Activity, 'isQuiet'>) {
  return (...[queue, opts, options]: Parameters<typeof createPostgresBackend>): PostgresQueueBackend => {
    const backend = createPostgresBackend(queue, opts, options);
    const pool = opts.connection as pg.Pool;
    addTogether(backend, queue, pool);
    const { limiter, lockDuration, name, places } = opts as WorkerOptions<pg.Pool> & Pick<WorkerSettings, 'places'>;
    // Only a worker has a lock duration.
    if (lockDuration === undefined) return backend;
    // A rate limit is checked for each job.
    if (limiter === undefined) exchangeTogether(backend, exchange(queue, pool, lockDuration, name), name, places);
    checkStalledIfAnyRun(backend, queue, pool, activity);
    return backend;
  };
}

/** Looks for stalled jobs less often while the installation is quiet and no job runs: whoever starts one ends the quiet. */
function checkStalledIfAnyRun(
  backend: PostgresQueueBackend,
  queue: string,
  pool: pg.Pool,
  activity: Pick<Activity, 'isQuiet'>,
): void {
  const check = backend.moveStalledJobsToWait.bind(backend);
  let noneRanAt = -Infinity;
  backend.moveStalledJobsToWait = async () => {
    if (!activity.isQuiet) return check();
    if (performance.now() - noneRanAt < QUIET_CHECK_EVERY_MS) return [];
    const { rows } = await pool.query(IS_ANY_RUNNING, [queue]);
    noneRanAt = rows.length === 0 ? performance.now() : -Infinity;
    return rows.length === 0 ? [] : check();
  };
}

/** Adds jobs by a single statement. */
function addTogether(backend: PostgresQueueBackend, queue: string, pool: pg.Pool): void {
  const addJobs = backend.addJobs.bind(backend);
  backend.addJobs = async (entries) => {
    const jobs = entries.map(({ job }) => job);
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

function exchange(queue: string, pool: pg.Pool, lockMs: number, name: string | undefined): Exchange {
  return async (slots, lastPriority) => {
    const { rows } = await pool.query<Row>({
      name: 'exchange-jobs',
      text: EXCHANGE_JOBS,
      values: [
        queue,
        slots.map(({ jobId }) => jobId),
        slots.map(({ token }) => token),
        slots.map(({ takesNext }) => takesNext),
        ...[Date.now(), lockMs, name, lastPriority],
      ],
    });
    return rows.map((row) => {
      const { plain, hasEnded, nextDue, id } = row;
      // Not copied without the other columns: that takes longer than all else here.
      if (id !== null) return { hasEnded, next: [row as JobJson, id, 0, 0] };
      return { hasEnded, next: plain ? [null, '', 0, nextDue ?? 0] : null };
    });
  };
}
