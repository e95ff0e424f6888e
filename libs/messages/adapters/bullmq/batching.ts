import type { JobJson, PostgresQueueBackend, RedisQueueBackend } from 'bullmq';
import { Batcher } from '#platform/batcher.js';

/** One of the jobs that a worker runs at the same time. */
export interface Place {
  /** The job that the worker has completed; null for a new place. */
  readonly jobId: string | null;
  /** Locks that job, and the next one. */
  readonly token: string;
  readonly takesNext: boolean;
}

/** Places of one batch. */
const MAX_PLACES = 500;

type Backend = PostgresQueueBackend | RedisQueueBackend;

/** A job, its id, milliseconds to wait for the rate limit, and when the next delayed job is due. */
type Next = Awaited<ReturnType<PostgresQueueBackend['moveToActive']>>;

export interface Exchanged {
  readonly hasEnded: boolean;
  /** Null when only BullMQ can decide it. */
  readonly next: Next | null;
}

const LEFT_TO_BULLMQ: Exchanged = { hasEnded: false, next: null };

/**
 * Completes jobs and takes the next ones in batches: all places of a worker that become free while a batch runs share
 * the next one. What is out of the ordinary is left to BullMQ.
 * @param exchange one batch
 * @param name of the worker
 */
export function exchangeTogether(
  backend: Backend,
  exchange: (places: Place[]) => Promise<Exchanged[]>,
  name: string | undefined,
): void {
  const run = (places: Place[]) => {
    // A worker that stops takes no more jobs.
    const takes = (place: Place) => ({ ...place, takesNext: place.takesNext && !backend.closing });
    return exchange(places.map(takes)).catch((error: unknown) => {
      backend.emit('error', error);
      return places.map(() => LEFT_TO_BULLMQ);
    });
  };
  // One at a time: fewer, larger batches cost less than concurrent ones.
  const batcher = new Batcher(run, { maxItems: MAX_PLACES, maxWaiting: Infinity });
  const reported = (error: unknown) => {
    backend.emit('error', error);
    return undefined;
  };
  const moveToActive = backend.moveToActive.bind(backend);
  const moveToCompleted = backend.moveToCompleted.bind(backend);

  backend.moveToActive = async (token) => {
    const { next } = await batcher.submit({ jobId: null, token, takesNext: true });
    return next ?? moveToActive(token, name);
  };
  backend.moveToCompleted = async (job, result, removeOnComplete, token, fetchNext) => {
    const isPlain = removeOnComplete === true && !job.parentKey && !job.opts.deduplication;
    if (!isPlain) return moveToCompleted(job, result, removeOnComplete, token, fetchNext);
    const { hasEnded, next } = await batcher.submit({ jobId: job.id ?? null, token, takesNext: fetchNext });
    // Also when its lock is lost: BullMQ then says why.
    if (!hasEnded) return moveToCompleted(job, result, removeOnComplete, token, fetchNext);
    const finishedOn = Date.now();
    if (!fetchNext || backend.closing) return { result: undefined, finishedOn };
    // The job has ended, whatever happens to the next one.
    const taken = next ?? (await moveToActive(token, name).catch(reported));
    return { result: taken, finishedOn };
  };
}

/** Whether a job can start at once and depends on no other. */
export function isOrdinary({ id, opts, parentKey, deduplicationId, repeatJobKey }: JobJson): boolean {
  const { delay, lifo } = opts;
  return Boolean(id) && !delay && !lifo && !parentKey && !deduplicationId && !repeatJobKey;
}
